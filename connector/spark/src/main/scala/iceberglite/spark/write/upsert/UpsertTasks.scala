package iceberglite.spark.write.upsert

import org.apache.spark.sql.connector.write.DataWriterFactory

import iceberglite.spark.write.{PendingCommit, TaskResult, TaskWriterFactory, WriteTasks}
import iceberglite.spec.file.{Content, ContentFile}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.table.Table
import iceberglite.table.action.{AddUnpartitionedSpec, RowDelta}

/** The tasks of an upsert, which create data files and equality delete files. */
final private[upsert] class UpsertTasks(plan: UpsertPlan) extends WriteTasks {
  override def table: Table = plan.rowPlan.table

  override def writerFactory(operationId: String): DataWriterFactory = new UpsertWriterFactory(
    TaskWriterFactory.of(plan.rowPlan, operationId),
    TaskWriterFactory.of(plan.deletePlan, s"$operationId-deletes"),
    plan.rowPlan.rows.schema,
    plan.keyColumns,
    plan.deleteColumnIndex,
    table.name
  )

  override def pending(results: Vector[TaskResult]): PendingCommit = {
    val taskResults = results.collect { case upsert: WrittenUpsert => upsert }
    pending(taskResults.flatMap(_.rows), taskResults.flatMap(_.deletes))
  }

  private def pending(rows: Vector[ContentFile], deletes: Vector[ContentFile]): PendingCommit =
    if (deletes.isEmpty) plan.rowPlan.pending(None)
    else {
      val (base, spec) = if (plan.deletesByPartition) (table, plan.deletePlan.files.spec) else withGlobalSpec
      val requiredSpec = if (plan.deletesByPartition) Some(spec.specId) else None
      val added = rows ++ deletes.map(deleteFile(_, spec))
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
