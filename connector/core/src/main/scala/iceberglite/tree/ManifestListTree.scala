package iceberglite.tree

import iceberglite.io.{FileIO, ManifestLists, Manifests}
import iceberglite.spec._

/**
 * The tree of versions 1 to 3: a manifest list, or in old version 1 tables the paths in table metadata, and manifests
 * (spec: "Manifests", "Manifest Lists").
 *
 * @param sources where the types of partition values come from, see [[PartitionSources]]
 */
final class ManifestListTree(
    io: FileIO,
    specs: Map[Int, PartitionSpec],
    sources: Schema,
    cache: ManifestCache
) extends MetadataTree {

  override def manifests(snapshot: Snapshot): Vector[ManifestFile] = snapshot.manifestList match {
    case Some(path) => cache.manifestsOf(ListKey(io, path))(listed(path, snapshot))
    case None =>
      InParallel.map(snapshot.manifests) { path =>
        cache.manifestsOf(ListKey(io, path))(Vector(EmbeddedManifests.read(io, path, snapshot, read))).head
      }
  }

  /** To Avro a list that was cut off right after its header lists nothing; the snapshot's summary tells them apart. */
  private def listed(path: String, snapshot: Snapshot): Vector[ManifestFile] = {
    val manifests = ManifestLists.read(io, path)
    val files = snapshot.summary.get(ManifestListTree.TotalDataFiles)
    if (manifests.isEmpty && files.exists(_ != "0")) throw IcebergError.UnreadableFile(
      path,
      "manifest list",
      s"It lists no manifests, but its snapshot ${snapshot.snapshotId} has ${files.mkString} data files: it was cut off. " +
        "Restore the file, or roll back to another snapshot"
    )
    manifests
  }

  override def entries(manifest: ManifestFile): Iterator[ManifestEntry] =
    if (cache.mayKeep(manifest)) cache.entriesOf(key(manifest))(read(manifest).toArray).iterator else read(manifest)

  override def write(header: TreeHeader, changes: FileChanges, reuse: Option[WrittenTree]): WrittenTree =
    new ManifestListWrite(io, this, header, changes, reuse).run()

  /** Keeps what a commit has written: the next scan, or the next commit, need not read it. */
  private[tree] def keep(list: String, manifests: Vector[ManifestFile]): Unit =
    cache.keepManifests(ListKey(io, list), manifests)

  /** The same for the rows of a manifest, with everything inherited. */
  private[tree] def keep(manifest: ManifestFile, entries: Array[ManifestEntry]): Unit =
    cache.keepEntries(key(manifest), entries)

  private def read(manifest: ManifestFile): Iterator[ManifestEntry] = Manifests.read(io, manifest, specs, sources)

  private def key(manifest: ManifestFile): ManifestKey = ManifestKey(
    io,
    manifest.path,
    manifest.length,
    manifest.sequenceNumber,
    manifest.firstRowId,
    spec(manifest).partitionType(sources)
  )

  private[tree] def spec(manifest: ManifestFile): PartitionSpec = specs.getOrElse(
    manifest.partitionSpecId,
    throw IcebergError.InvalidMetadata(
      manifest.path,
      "$.partition_spec_id",
      s"The table has no partition spec ${manifest.partitionSpecId}, only ${specs.keys.toVector.sorted.mkString(", ")}"
    )
  )
}

private object ManifestListTree {
  private val TotalDataFiles = "total-data-files"
}
