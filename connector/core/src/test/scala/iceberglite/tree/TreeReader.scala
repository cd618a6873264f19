package iceberglite.tree

import iceberglite.spec.file.{ManifestEntry, ManifestFile}
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.storage.FileIO
import iceberglite.tree.manifestlist.ManifestPart

/** Reads the metadata trees of a table's snapshots. By default, it reads them without a cache. */
final class TreeReader(
    io: FileIO,
    metadata: TableMetadata,
    cache: ManifestCache = ManifestCache.Disabled,
    pool: MetadataPool = MetadataPool
) {
  private val table = TreeTable("lite.db.t", io, metadata, metadata.schema, pool)

  def files(snapshot: Snapshot): SnapshotFiles = MetadataTree.at(snapshot, table, cache)

  def manifests(snapshot: Snapshot): Vector[ManifestFile] = files(snapshot).manifests

  def entries(snapshot: Snapshot): Vector[ManifestEntry] = {
    val found = files(snapshot)
    found.parts.flatMap(found.entries(_))
  }

  def entries(manifest: ManifestFile): Iterator[ManifestEntry] = new ManifestPart(manifest, table.specs).entries(io)

  def live(snapshot: Snapshot): Vector[ManifestEntry] = entries(snapshot).filter(_.isLive)

  /** Returns the live entries of the current snapshot. */
  def live: Vector[ManifestEntry] = metadata.currentSnapshot.toVector.flatMap(live(_))
}
