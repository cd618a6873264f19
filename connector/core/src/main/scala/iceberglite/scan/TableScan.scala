package iceberglite.scan

import iceberglite.spec.{ManifestContent, ManifestFile, Schema, Snapshot}
import iceberglite.spec.expr.{Bind, Expression}
import iceberglite.table.Table
import iceberglite.tree.{InParallel, ManifestCache, MetadataTree, PartitionSources}

/**
 * A scan of one snapshot of a table.
 *
 * @param snapshot `None` for a table that has none: no files
 * @param schema what the filter's columns are columns of: the table's, or of an old snapshot its own
 * @param filter bound to `schema`, or to be bound to it
 * @param cache where decoded manifests are kept
 */
final case class TableScan(
    table: Table,
    snapshot: Option[Snapshot],
    schema: Schema,
    filter: Expression,
    caseSensitive: Boolean,
    cache: ManifestCache
) {

  /**
   * The data files that may hold matching rows (spec: "Scan Planning").
   *
   * @throws iceberglite.spec.IcebergError.NotFound the filter names a column that is not there
   * @throws iceberglite.spec.IcebergError.Unsupported rows of these files are deleted by delete files
   */
  def plan(): ScanPlan = {
    val bound = Bind(filter, schema, caseSensitive)
    val sources = PartitionSources.schema(table.metadata, schema)
    val tree = MetadataTree.of(table.io, table.metadata, schema, cache)
    val filters = new SpecFilters(bound, table.metadata.specsById, sources)
    val manifests = snapshot.fold(Vector.empty[ManifestFile])(tree.manifests)
    val (data, deletes) = manifests.partition(_.content == ManifestContent.Data)
    val read = data.filter(m => m.hasLiveFiles && filters.of(m).mightMatch(m))
    val found = InParallel.map(read)(m => filters.of(m).select(tree.entries(m)))
    val tasks = TableScan.concat(found.map(_.tasks))
    val liveDeletes = deletes.filter(m => m.hasLiveFiles && filters.of(m).mightMatch(m))
    if (tasks.nonEmpty && liveDeletes.nonEmpty) {
      new RowDeletes(table.name, table.metadata.specsById, tree).refuse(tasks, liveDeletes)
    }
    ScanPlan(tasks, bound, report(data, read, found, tasks))
  }

  private def report(
      data: Vector[ManifestFile],
      read: Vector[ManifestFile],
      found: Vector[Selected],
      tasks: Vector[FileScanTask]
  ): ScanReport = {
    val pruned = found.map(_.pruned.toLong).sum
    val wasRead = read.map(_.path).toSet
    val unread = data.filterNot(m => wasRead(m.path)).map(TableScan.liveFiles)
    ScanReport(
      table = table.name,
      snapshotId = snapshot.map(_.snapshotId),
      totalManifests = data.size,
      skippedManifests = data.size - read.size,
      totalFiles = if (unread.forall(_.isDefined)) Some(tasks.size + pruned + unread.flatten.sum) else None,
      prunedFiles = pruned,
      resultFiles = tasks.size.toLong,
      resultRecords = found.map(_.records).sum,
      resultBytes = found.map(_.bytes).sum
    )
  }
}

object TableScan {

  /** With the cache of the table's storage. */
  def apply(
      table: Table,
      snapshot: Option[Snapshot],
      schema: Schema,
      filter: Expression,
      caseSensitive: Boolean
  ): TableScan = TableScan(table, snapshot, schema, filter, caseSensitive, ManifestCache.of(table.io))

  private def liveFiles(m: ManifestFile): Option[Long] =
    for (added <- m.addedFilesCount; existing <- m.existingFilesCount) yield added.toLong + existing

  private def concat(parts: Vector[Vector[FileScanTask]]): Vector[FileScanTask] =
    if (parts.size == 1) parts.head
    else {
      val all = Vector.newBuilder[FileScanTask]
      parts.foreach(all ++= _)
      all.result()
    }
}
