package iceberglite.spark.write.upsert

import org.apache.spark.sql.connector.write.DataWriterFactory

import iceberglite.spark.write.{CommitForm, PendingCommit, TaskResult, TaskWriterFactory, WriteCommit, WriteTasks}
import iceberglite.spec.file.{Content, ContentFile}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.{SnapshotTarget, Table}
import iceberglite.table.action.{AddUnpartitionedSpec, ReadRows, RecordStreamEpoch, RowDelta, SearchedRowDelta}
import iceberglite.table.conflict.Isolation

/**
 * The tasks of an upsert, which create data files and equality delete files.
 *
 * A micro-batch of a stream first looks for the replaced rows. If few data files may contain the keys, the commit
 * deletes these rows by position. This commit fails if other commits may have added rows with the keys or moved the
 * replaced rows. In this case, equality deletes are committed instead, which apply to all rows that were added by
 * earlier commits.
 *
 * @param search how a micro-batch finds the replaced rows
 */
final private[upsert] class UpsertTasks(plan: UpsertPlan, search: StreamSearch) extends WriteTasks {
  override def table: Table = plan.rowPlan.table

  private def to: SnapshotTarget = plan.rowPlan.settings.to

  override def writerFactory(operationId: String): DataWriterFactory = new UpsertWriterFactory(
    TaskWriterFactory.of(plan.rowPlan, operationId),
    TaskWriterFactory.of(plan.deletePlan, s"$operationId-deletes"),
    plan.rowPlan.rows.schema,
    plan.keyColumns,
    plan.deleteColumnIndex,
    table.name
  )

  override def pending(results: Vector[TaskResult], write: WriteCommit): PendingCommit = {
    val (rows, keys) = filesOf(results)
    if (keys.isEmpty) plan.rowPlan.pending(None) else byKey(rows, keys, table)
  }

  /**
   * Returns the commit of a micro-batch. The newest version of the table is searched, because snapshots that are no
   * longer in the table may have lost files. If this version already has the epoch, nothing is searched.
   */
  override def pendingEpoch(
      results: Vector[TaskResult],
      write: WriteCommit,
      epoch: RecordStreamEpoch
  ): PendingCommit = {
    val (rows, keys) = filesOf(results)
    if (keys.isEmpty || !search.isEnabled) pending(results, write).recording(epoch)
    else {
      val current = table.refresh()
      if (epoch.isIn(current.metadata)) plan.rowPlan.pending(None).copy(base = current, record = Some(epoch))
      else {
        val found = replacedRows(current, keys, write)
        found.fold(byKey(rows, keys, current))(byPosition(rows, keys, current, _)).recording(epoch)
      }
    }
  }

  private def filesOf(results: Vector[TaskResult]): (Vector[ContentFile], Vector[ContentFile]) = {
    val ofTasks = results.collect { case upsert: WrittenUpsert => upsert }
    (ofTasks.flatMap(_.rows), ofTasks.flatMap(_.deletes))
  }

  /**
   * Returns the rows that the keys replace; absent if they must be deleted by key. They must be deleted by key if the
   * format version was upgraded or the type of a key column was promoted while the tasks ran, because the files with
   * the keys have the earlier form.
   */
  private def replacedRows(current: Table, keys: Vector[ContentFile], write: WriteCommit): Option[ReplacedRows] =
    if (!SearchedRowDelta.haveSameForm(table.metadata, current.metadata, plan.key.ids)) None
    else search.replacedBy(keysToFind(current, keys), current, to.head(current.metadata), write)

  /** Returns the keys as equality delete files that are only used to find rows. Reads the manifest list. */
  private def keysToFind(current: Table, keys: Vector[ContentFile]): Vector[ContentFile] = {
    // Equality deletes with a partitioned spec apply only to data files with this spec, and data files with other specs
    // may have been added.
    val isByPartition = plan.deletesByPartition && UpsertPlan.hasOnlySpec(current, to, plan.deletePlan.files.spec)
    val spec = if (isByPartition) plan.deletePlan.files.spec else UpsertTasks.UncommittedGlobalSpec
    keys.map(deleteFile(_, spec))
  }

  private def byPosition(
      rows: Vector[ContentFile],
      keys: Vector[ContentFile],
      searched: Table,
      found: ReplacedRows
  ): PendingCommit = {
    val added = rows ++ found.deletes
    if (added.isEmpty) unlessChanged(keys, searched, found)
    else {
      val isolation = Isolation(IsolationLevel.Serializable, found.snapshotId)
      val read = ReadRows(found.filter, isRowByRow = true)
      val change = new RowDelta(added, found.merged, Some(isolation), read, to = to)
      def otherwise() = byKey(rows, keys, searched).copy(form = CommitForm(found.deletes.map(_.path).distinct, None))
      plan.rowPlan.pending(Some(new SearchedRowDelta(change, searched.metadata, plan.key.ids)))
        .copy(base = searched, form = CommitForm(keys.map(_.path), Some(() => otherwise())))
    }
  }

  /**
   * Returns the commit of a micro-batch that only deletes rows, if the search found no row with its keys. Nothing is
   * committed, unless the branch has changed since the search. Without a commit, nothing else would detect such a
   * change. Therefore, the newest version of the table is loaded, and if the branch has changed, rows are deleted by
   * key. Rows that are added later count as added after the micro-batch.
   */
  private def unlessChanged(keys: Vector[ContentFile], searched: Table, found: ReplacedRows): PendingCommit = {
    val current = searched.refresh()
    val isUnchanged = to.head(current.metadata).map(_.snapshotId) == found.snapshotId
    if (isUnchanged) plan.rowPlan.pending(None).copy(form = CommitForm(keys.map(_.path), None))
    else byKey(Vector.empty, keys, current)
  }

  /**
   * Returns the commit with equality deletes.
   *
   * @param newest the newest known version of the table, from which the commit starts
   */
  private def byKey(rows: Vector[ContentFile], keys: Vector[ContentFile], newest: Table): PendingCommit = {
    val (base, spec) =
      if (plan.deletesByPartition) (newest, plan.deletePlan.files.spec) else withGlobalSpec(newest)
    val requiredSpec = if (plan.deletesByPartition) Some(spec.specId) else None
    val added = rows ++ keys.map(deleteFile(_, spec))
    val change = new RowDelta(added, requiredSpec = requiredSpec, to = to)
    plan.rowPlan.pending(Some(change)).copy(base = base)
  }

  private def deleteFile(file: ContentFile, spec: PartitionSpec): ContentFile = file.copy(
    content = Content.EqualityDeletes,
    specId = spec.specId,
    equalityIds = plan.key.ids,
    partition = if (spec.isPartitioned) file.partition else PartitionTuple(spec.fields.map(_ => None)),
    sortOrderId = None
  )

  /**
   * Returns a version of the table and its unpartitioned partition spec, which is added to the table if necessary.
   * Equality delete files that apply to all partitions must have an unpartitioned partition spec (spec: "Scan
   * Planning").
   */
  private def withGlobalSpec(newest: Table): (Table, PartitionSpec) = {
    def unpartitioned(t: Table): Option[PartitionSpec] = t.metadata.specs.find(!_.isPartitioned)
    val base =
      if (unpartitioned(newest).isDefined) newest else newest.transaction().add(new AddUnpartitionedSpec).commit()
    val spec =
      unpartitioned(base).getOrElse(throw new IllegalStateException(s"${table.name} has no unpartitioned spec"))
    (base, spec)
  }

  override def toString: String = s"table=${table.name}, mode=upsert, keys=${plan.key.names.mkString(", ")}"
}

private object UpsertTasks {

  /** The partition spec of keys that apply to all partitions, while they are only used to find rows. */
  private val UncommittedGlobalSpec = PartitionSpec.Unpartitioned.copy(specId = -1)
}
