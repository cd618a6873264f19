package iceberglite.scan

import java.util.IdentityHashMap

import iceberglite.spec.{Content, ContentFile, FormatVersion, ManifestContent, ManifestFile, Schema, Snapshot}
import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.expr.{Bind, Expression, InclusiveMetrics}
import iceberglite.spec.expr.Expression.AlwaysTrue
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
   * @throws iceberglite.spec.IcebergError.InvalidMetadata delete files that apply break the specification
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
    val hasDeletes = deletes.nonEmpty && found.exists(_.tasks.nonEmpty)
    val index = if (hasDeletes) deleteIndex(bound, deletes, found, filters, tree) else DeleteIndex.Empty
    val tasks = TableScan.concat(
      if (index.isEmpty) found.map(_.tasks) else InParallel.map(found)(selected => index.applied(selected.tasks))
    )
    val planned = report(data, read, found, tasks)
    ScanPlan(tasks, bound, if (index.isEmpty) planned else TableScan.withDeletes(planned, tasks))
  }

  /** The deletes that may apply to the planned files. */
  private def deleteIndex(
      bound: Expression,
      manifests: Vector[ManifestFile],
      found: Vector[Selected],
      filters: SpecFilters,
      tree: MetadataTree
  ): DeleteIndex = {
    val oldest = found.iterator.flatMap(_.tasks).map(_.dataSequenceNumber).min
    val live = manifests.filter(m => m.hasLiveFiles && m.sequenceNumber >= oldest && filters.of(m).mightMatch(m))
    live.headOption.filter(_ => table.metadata.formatVersion == FormatVersion.V1).foreach { m =>
      throw InvalidMetadata(m.path, "$.content", s"${table.name} is of format version 1, which has no delete files")
    }
    val keys = new KeyColumns(schema, table.metadata.schemas)
    val relevant = new DeletesOf(bound, keys)
    val entries = InParallel.map(live) { m =>
      filters.of(m).inPartitions(tree.entries(m)).filter(e => e.sequenceNumber.forall(_ >= oldest) && relevant(e.file))
    }
    DeleteIndex.of(entries.flatten, table.metadata.specsById, keys)
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

  private def withDeletes(report: ScanReport, tasks: Vector[FileScanTask]): ScanReport = report.copy(
    deleteFiles = deleteFiles(tasks),
    deletedRecords = tasks.iterator.filter(_.deletes.nonEmpty).map(t => t.file.knownRecords - t.liveRecords).sum
  )

  /** Tasks share the deletes of their partition by reference. */
  private def deleteFiles(tasks: Vector[FileScanTask]): Long = {
    val distinct = new IdentityHashMap[DeleteFile, DeleteFile]
    var last = Vector.empty[DeleteFile]
    tasks.foreach { t =>
      if ((t.deletes ne last) && t.deletes.nonEmpty) t.deletes.foreach(d => distinct.put(d, d))
      last = t.deletes
    }
    distinct.size.toLong
  }

  private def concat(parts: Vector[Vector[FileScanTask]]): Vector[FileScanTask] =
    if (parts.size == 1) parts.head
    else {
      val all = Vector.newBuilder[FileScanTask]
      parts.foreach(all ++= _)
      all.result()
    }
}

/**
 * Which delete files may take away rows that match the filter (spec: "Scan Planning", note 2). An equality delete file
 * without a matching key takes away none. What position deletes say of their rows is not asked: most say nothing.
 */
final private class DeletesOf(bound: Expression, keys: KeyColumns) extends (ContentFile => Boolean) {
  private val metrics = new InclusiveMetrics(bound)

  override def apply(deletes: ContentFile): Boolean =
    bound == AlwaysTrue || deletes.content != Content.EqualityDeletes ||
      keys.keyOf(deletes).forall(key => metrics.mightMatch(deletes.copy(metrics = key.metricsOf(deletes))))
}
