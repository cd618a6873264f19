package iceberglite.spark.write.upsert

import org.apache.spark.sql.connector.write.DataWriterFactory

import iceberglite.spark.write.{CommitForm, PendingCommit, TaskResult, TaskWriterFactory, WriteCommit, WriteTasks}
import iceberglite.spec.file.{Content, ContentFile}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.Table
import iceberglite.table.action.{AddUnpartitionedSpec, ReadRows, RowDelta}
import iceberglite.table.conflict.Isolation

/**
 * The tasks of an upsert, which create data files and equality delete files.
 *
 * If a search is given and few data files may contain the keys, the commit deletes the replaced rows by position. This
 * commit fails if other commits may have added rows with the keys or moved the replaced rows. In this case, the
 * equality deletes, which apply to all rows from before their commit, are committed instead.
 *
 * @param search finds the replaced rows; absent if the keys are always committed as equality deletes
 */
final private[upsert] class UpsertTasks(plan: UpsertPlan, search: Option[StreamSearch]) extends WriteTasks {
  override def table: Table = plan.rowPlan.table

  override def writerFactory(operationId: String): DataWriterFactory = new UpsertWriterFactory(
    TaskWriterFactory.of(plan.rowPlan, operationId),
    TaskWriterFactory.of(plan.deletePlan, s"$operationId-deletes"),
    plan.rowPlan.rows.schema,
    plan.keyColumns,
    plan.deleteColumnIndex,
    table.name
  )

  override def pending(results: Vector[TaskResult], write: WriteCommit): PendingCommit = {
    val taskResults = results.collect { case upsert: WrittenUpsert => upsert }
    val (rows, keys) = (taskResults.flatMap(_.rows), taskResults.flatMap(_.deletes))
    if (keys.isEmpty) plan.rowPlan.pending(None)
    else search.flatMap(replacedRows(_, keys, write)).fold(byKey(rows, keys))(byPosition(rows, keys, _))
  }

  private def replacedRows(
      search: StreamSearch,
      keys: Vector[ContentFile],
      write: WriteCommit
  ): Option[ReplacedRows] = {
    val spec = if (plan.deletesByPartition) plan.deletePlan.files.spec else UpsertTasks.UncommittedGlobalSpec
    val head = plan.rowPlan.settings.to.head(table.metadata)
    search.replacedBy(keys.map(deleteFile(_, spec)), table, head, write)
  }

  private def byPosition(rows: Vector[ContentFile], keys: Vector[ContentFile], found: ReplacedRows): PendingCommit = {
    val added = rows ++ found.deletes
    val change = new RowDelta(
      added,
      found.merged,
      Some(Isolation(IsolationLevel.Serializable, found.snapshotId)),
      ReadRows(found.filter, isRowByRow = true),
      to = plan.rowPlan.settings.to
    )
    def otherwise() = byKey(rows, keys).copy(form = CommitForm(found.deletes.map(_.path).distinct, None))
    plan.rowPlan.pending(if (added.isEmpty) None else Some(change))
      .copy(form = CommitForm(keys.map(_.path), Some(() => otherwise())))
  }

  private def byKey(rows: Vector[ContentFile], keys: Vector[ContentFile]): PendingCommit = {
    val (base, spec) = if (plan.deletesByPartition) (table, plan.deletePlan.files.spec) else withGlobalSpec
    val requiredSpec = if (plan.deletesByPartition) Some(spec.specId) else None
    val added = rows ++ keys.map(deleteFile(_, spec))
    val change = new RowDelta(added, requiredSpec = requiredSpec, to = plan.rowPlan.settings.to)
    plan.rowPlan.pending(Some(change)).copy(base = base)
  }

  private def deleteFile(file: ContentFile, spec: PartitionSpec): ContentFile = file.copy(
    content = Content.EqualityDeletes,
    specId = spec.specId,
    equalityIds = plan.key.ids,
    partition = if (plan.deletesByPartition) file.partition else PartitionTuple(spec.fields.map(_ => None)),
    sortOrderId = None
  )

  /**
   * Returns the table and its unpartitioned partition spec, which is added to the table if necessary. Equality delete
   * files that apply to all partitions must have an unpartitioned partition spec (spec: "Scan Planning").
   */
  private def withGlobalSpec: (Table, PartitionSpec) = {
    def unpartitioned(t: Table): Option[PartitionSpec] = t.metadata.specs.find(!_.isPartitioned)
    val base = if (unpartitioned(table).isDefined) table else table.transaction().add(new AddUnpartitionedSpec).commit()
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
