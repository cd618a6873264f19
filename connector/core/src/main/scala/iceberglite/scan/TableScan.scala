package iceberglite.scan

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.expr.{Bind, Expression}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.ManifestContent
import iceberglite.spec.metadata.Snapshot
import iceberglite.tree.{FilePart, ManifestCache, MetadataPool, MetadataTree, TreeTable}
import iceberglite.scan.deletes.DeleteIndex

/**
 * A scan of one snapshot of a table.
 *
 * @param table the table, with the schema that the filter's columns refer to: the current schema, or the schema of an
 *   old snapshot
 * @param snapshot the snapshot to scan; `None` for a table without snapshots, which has no files
 * @param filter a filter on the table's columns, bound to the table's schema or unbound
 * @param cache cache of decoded manifests
 * @param statsToKeep the metrics that the files of the plan retain
 * @param cluster reads the parts of the metadata tree (manifests in format versions 1 to 3) on executors if the tree
 *   has many parts; if absent, this JVM reads the parts
 * @param wholeFiles whether all rows of the selected files are read, including rows that do not match the filter. If
 *   true, the plan contains all deletes of these files; if false, it omits deletes that cannot delete matching rows
 */
final case class TableScan(
    table: TreeTable,
    snapshot: Option[Snapshot],
    filter: Expression,
    caseSensitive: Boolean,
    cache: ManifestCache,
    statsToKeep: StatsToKeep = StatsToKeep.All,
    cluster: Option[PlanningCluster] = None,
    wholeFiles: Boolean = false
) {

  /**
   * Returns the data files that may contain matching rows (spec: "Scan Planning").
   *
   * @throws iceberglite.spec.IcebergError.NotFound if the filter refers to a column that does not exist
   * @throws iceberglite.spec.IcebergError.InvalidMetadata if a delete file that applies to one of the files violates
   *   the specification, or if a table of format version 1 has delete files
   */
  def plan(): ScanPlan = plan(None)

  /**
   * Returns the data files that may contain matching rows. With `untilRows`, planning stops when the files found so far
   * are guaranteed to contain this number of matching rows. These files are the first files of the plan that would be
   * complete without the Bloom index, which is not read in this case.
   *
   * @param untilRows the number of matching rows that the query needs (LIMIT), counted by
   *   [[FileScanTask.guaranteedRecords]]; absent for the complete plan
   */
  def plan(untilRows: Option[Long]): ScanPlan = planUntil(untilRows.map(PlanTarget(_, _.guaranteedRecords)))

  /**
   * Returns the data files that may contain matching rows. With a target, planning stops when the files found so far
   * reach the target. The Bloom index is not read in this case.
   */
  private[scan] def planUntil(target: Option[PlanTarget]): ScanPlan = {
    val bound = Bind(filter, table.schema, caseSensitive)
    val tree = snapshot.map(MetadataTree.at(_, table, cache))
    val parts = tree.fold(Vector.empty[FilePart])(_.parts)
    val (data, deletes) = parts.partition(_.content == ManifestContent.Data)
    val reader = new PartReader(table, bound, if (wholeFiles) AlwaysTrue else bound, StatsToKeep.All)
    val matching = data.filter(p => p.hasLiveFiles && reader.mightMatch(p))
    val kept = statsToKeep.forParts(matching).and(bound.fieldIds)
    val files = new PartPlanner(reader.keeping(kept), tree, cluster)
    lazy val oldestOfParts = if (matching.isEmpty) 0L else matching.map(_.minSequenceNumber).min
    lazy val allDeletes = index(files, matching, deletes, oldestOfParts)
    lazy val unread = IndexedDeletes.unread(deletes)
    val (read, found, tasks, indexed) = target match {
      case Some(until) =>
        val (read, found, tasks) = firstOf(matching, until, files, allDeletes.index)
        (read, found, tasks, if (read.isEmpty) unread else allDeletes)
      case None if kept == StatsToKeep.All || deletes.isEmpty =>
        val found = withBloomIndex(files.select(matching), bound)
        val oldest = found.iterator.flatMap(_.tasks).map(_.dataSequenceNumber)
        val used = matching.zip(found).collect { case (part, files) if files.tasks.nonEmpty => part }
        val indexed = if (oldest.isEmpty) unread else index(files, used, deletes, oldest.min)
        (matching, found, assignDeletes(found, indexed.index), indexed)
      case None =>
        val found = withBloomIndex(files.keeping(kept.and(allDeletes.index.keyIds)).select(matching), bound)
        (matching, found, assignDeletes(found, allDeletes.index), allDeletes)
    }
    val planned = report(data, read, found, tasks).copy(deletes = indexed.report)
    ScanPlan(tasks, bound, planned.withDeletesOf(tasks), kept, skippedByIndex = found.flatMap(_.omitted))
  }

  /**
   * Reads parts in batches until the files found so far reach the target. Each batch doubles the number of parts that
   * have been read, but has at most as many parts as the pool has threads.
   *
   * @return the parts that were read, the files that were selected from these parts, and the tasks of the plan
   */
  private def firstOf(
      parts: Vector[FilePart],
      target: PlanTarget,
      files: PartPlanner,
      index: => DeleteIndex
  ): (Vector[FilePart], Vector[PlannedPart], Vector[FileScanTask]) = {
    lazy val deletes = index
    var (read, reached) = (0, 0L)
    val found = Vector.newBuilder[PlannedPart]
    val tasks = Vector.newBuilder[FileScanTask]
    while (read < parts.size && reached < target.total) {
      val batch = files.select(parts.slice(read, math.max(1, math.min(2 * read, read + MetadataPool.Width))))
      found ++= batch
      read += batch.size
      assignDeletes(batch, deletes).foreach { task =>
        if (reached < target.total) tasks += task
        reached += target.of(task)
      }
    }
    (parts.take(read), found.result(), tasks.result())
  }

  /** Omits the files that cannot contain matching rows according to the Bloom index of the table. */
  private def withBloomIndex(found: Vector[PlannedPart], bound: Expression): Vector[PlannedPart] =
    BloomIndex.of(table, snapshot, bound).fold(found) { index =>
      val mightMatch = index.filter(found.flatMap(_.tasks))
      found.map(_.filter(mightMatch))
    }

  private def assignDeletes(found: Vector[PlannedPart], index: DeleteIndex): Vector[FileScanTask] = TableScan.concat(
    if (index.isEmpty) found.map(_.tasks)
    else MetadataPool.map(found)(selected => FileScanTask.withDeletes(selected.tasks, index))
  )

  /**
   * Returns the index of the deletes that may apply to the planned files.
   *
   * @param data the parts that list the planned files, and possibly other parts
   * @param parts all parts with delete files
   * @param oldest the lowest data sequence number of the planned files, or a lower bound of it
   */
  private def index(
      files: PartPlanner,
      data: Vector[FilePart],
      parts: Vector[FilePart],
      oldest: Long
  ): IndexedDeletes = {
    val dataPaths = data.iterator.map(_.path).toSet
    val live = parts.filter { p =>
      p.hasLiveFiles && p.sequenceNumber >= oldest && p.dataPart.forall(dataPaths) && files.reader.mightMatch(p)
    }
    live.headOption.filter(_ => table.metadata.formatVersion == FormatVersion.V1).foreach { part =>
      throw InvalidMetadata(
        part.path,
        "$.content",
        s"The table ${table.name} has format version 1, which does not allow delete files"
      )
    }
    val index =
      if (live.isEmpty) DeleteIndex.Empty
      else DeleteIndex.of(files.deletes(live, oldest), table.metadata.specsById, files.reader.keys)
    IndexedDeletes.of(index, parts, live.size)
  }

  private def report(
      data: Vector[FilePart],
      read: Vector[FilePart],
      found: Vector[PlannedPart],
      tasks: Vector[FileScanTask]
  ): ScanReport = {
    val pruned = found.map(_.pruned.toLong).sum
    val selected = found.map(_.tasks.size.toLong).sum
    val isComplete = selected == tasks.size
    val readIds = read.map(_.id).toSet
    val unread = data.filterNot(p => readIds(p.id)).map(_.liveFiles)
    ScanReport(
      table = table.name,
      snapshotId = snapshot.map(_.snapshotId),
      totalManifests = data.size,
      skippedManifests = data.size - read.size,
      totalFiles = if (unread.forall(_.isDefined)) Some(pruned + selected + unread.flatten.sum) else None,
      prunedFiles = pruned + selected - tasks.size,
      resultFiles = tasks.size.toLong,
      resultRecords = if (isComplete) found.map(_.records).sum else tasks.iterator.map(_.file.recordCountOrZero).sum,
      resultBytes = if (isComplete) found.map(_.bytes).sum else tasks.iterator.map(_.length).sum
    )
  }
}

object TableScan {

  /** Returns a scan that uses the cache of the table's storage. */
  def apply(table: TreeTable, snapshot: Option[Snapshot], filter: Expression, caseSensitive: Boolean): TableScan =
    TableScan(table, snapshot, filter, caseSensitive, ManifestCache.of(table.io))

  private def concat(parts: Vector[Vector[FileScanTask]]): Vector[FileScanTask] =
    if (parts.size == 1) parts.head
    else {
      val all = Vector.newBuilder[FileScanTask]
      parts.foreach(all ++= _)
      all.result()
    }
}

/**
 * The target of a plan that need not be complete. Planning stops when the sum of `of` over the planned files reaches
 * `total`.
 *
 * @param of returns the number that a file contributes to the sum, such as its guaranteed matching rows
 */
final private[scan] case class PlanTarget(total: Long, of: FileScanTask => Long)

/** The index of a scan's delete files, and statistics about its creation. */
final private case class IndexedDeletes(index: DeleteIndex, report: DeleteReport)

private object IndexedDeletes {

  /** Returns the index of a scan that reads no data file, and therefore no delete manifest. */
  def unread(parts: Vector[FilePart]): IndexedDeletes = of(DeleteIndex.Empty, parts, 0)

  /** @param parts all delete manifests of the snapshot */
  def of(index: DeleteIndex, parts: Vector[FilePart], readManifests: Int): IndexedDeletes = {
    val live = parts.map(_.liveFiles)
    val skipped = if (live.forall(_.isDefined)) Some(live.flatten.sum - index.counts.total) else None
    IndexedDeletes(index, DeleteReport(parts.size, readManifests, index.counts, skipped))
  }
}
