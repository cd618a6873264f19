package iceberglite.spark.write.upsert

import org.apache.spark.sql.connector.distributions.Distribution
import org.apache.spark.sql.connector.expressions.SortOrder
import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.write.{
  BatchWrite,
  DataWriterFactory,
  PhysicalWriteInfo,
  RequiresDistributionAndOrdering,
  WriterCommitMessage
}

import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.write.{PendingCommit, TaskWriterFactory, WriteCommit, WriteMetrics}
import iceberglite.spec.file.{Content, ContentFile}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.table.Table
import iceberglite.table.action.{AddUnpartitionedSpec, RowDelta}

/**
 * The write of an upsert. It requires that Spark passes all rows with the same key to one task, next to each other, so
 * that the task can detect duplicate keys.
 */
final private[write] class UpsertWrite(plan: UpsertPlan) extends RequiresDistributionAndOrdering with ErrorBoundary {
  override protected def errorName: String = plan.rowPlan.table.name

  override def description: String = s"IcebergWrite(table=${plan.rowPlan.table.name}, mode=upsert)"

  override def requiredDistribution: Distribution = plan.key.distribution

  override def distributionStrictlyRequired: Boolean = true

  override def requiredOrdering: Array[SortOrder] = plan.key.ordering

  override def advisoryPartitionSizeInBytes: Long = plan.rowPlan.advisorySize

  override def toBatch: BatchWrite = in(new UpsertBatchWrite(plan))

  override def supportedCustomMetrics: Array[CustomMetric] = WriteMetrics.all

  override def toString: String = description
}

/**
 * The batch write of an upsert. Its tasks create data files and equality delete files, and one commit adds all of them
 * to the table.
 */
final private[upsert] class UpsertBatchWrite(plan: UpsertPlan) extends BatchWrite with ErrorBoundary {
  private val table = plan.rowPlan.table

  private val writeCommit = new WriteCommit(table)

  override protected def errorName: String = table.name

  override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory = in {
    new UpsertWriterFactory(
      TaskWriterFactory.of(plan.rowPlan, writeCommit.operationId),
      TaskWriterFactory.of(plan.deletePlan, s"${writeCommit.operationId}-deletes"),
      plan.rowPlan.rows.schema,
      plan.keyColumns,
      plan.deleteColumnIndex,
      table.name
    )
  }

  /**
   * Returns false, because the attempts of a task use different file names, and the commit adds only the files of the
   * attempt that Spark reports.
   */
  override def useCommitCoordinator: Boolean = false

  override def commit(messages: Array[WriterCommitMessage]): Unit = in {
    val taskResults = messages.toVector.collect { case upsert: WrittenUpsert => upsert }
    writeCommit.commit(messages)(pending(taskResults.flatMap(_.rows), taskResults.flatMap(_.deletes)))
    ()
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

  override def abort(messages: Array[WriterCommitMessage]): Unit = in(writeCommit.abort(messages))

  override def toString: String = s"UpsertBatchWrite(table=${table.name}, keys=${plan.key.names.mkString(", ")})"
}
