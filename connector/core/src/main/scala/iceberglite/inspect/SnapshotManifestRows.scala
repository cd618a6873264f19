package iceberglite.inspect

import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.schema.Schema
import iceberglite.storage.FileIO
import iceberglite.tree.{ManifestCache, MetadataTree, SnapshotFiles, TreeTable}

/** A metadata table that shows the manifests of snapshots. Serializable, because executors produce rows. */
private[inspect] trait ManifestRows extends Serializable {
  def columns(metadata: TableMetadata): Schema

  /** Returns the rows of one snapshot, with a value for each column. */
  def valuesOf(metadata: TableMetadata, files: SnapshotFiles): Iterator[Vector[Any]]
}

/**
 * The rows of one snapshot in `manifests` or `all_manifests`. The root of the metadata tree (the manifest list) is read
 * when the rows are produced, and not when the query is planned.
 *
 * @param name the name of the table, for messages
 * @param size returns the length of the root in bytes, or an estimate. It is called only on the driver
 * @param cache returns the cache of manifest lists
 */
final private[inspect] class SnapshotManifestRows(
    name: String,
    io: FileIO,
    metadata: TableMetadata,
    snapshot: Snapshot,
    source: ManifestRows,
    request: RowRequest,
    size: () => Long,
    cache: FileIO => ManifestCache = ManifestCache.of(_)
) extends MetadataRows {
  import SnapshotManifestRows._

  override lazy val bytes: Long = size()
  override def estimatedRows: Long = bytes / BytesPerManifest

  override def rows(): GroupRows = {
    val files = MetadataTree.at(snapshot, TreeTable(name, io, metadata), cache(io))
    val selection = new RequestedRows(source.columns(metadata), request)
    GroupRows(source.valuesOf(metadata, files).flatMap(selection(_)))
  }

  /** Omits the other snapshots, so that a task does not get the whole history of the table. */
  override def forReading: MetadataRows =
    new SnapshotManifestRows(name, io, metadata.forReading(snapshot), snapshot, source, request, Unknown, WithoutCache)
}

private[inspect] object SnapshotManifestRows {

  /** The assumed length of a manifest's entry in a manifest list. */
  private val BytesPerManifest = 100L
  private val Unknown: () => Long = () => 0L
  private val WithoutCache: FileIO => ManifestCache = _ => ManifestCache.Disabled

  /** Asks the storage for the length of a snapshot's root or manifest list; 0 if the snapshot has no such file. */
  def rootLength(io: FileIO, snapshot: Snapshot): Long = snapshot.manifestList.flatMap(io.info).fold(0L)(_.length)
}
