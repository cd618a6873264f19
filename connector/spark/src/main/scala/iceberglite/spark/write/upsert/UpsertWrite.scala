package iceberglite.spark.write.upsert

import org.apache.spark.sql.connector.distributions.Distribution
import org.apache.spark.sql.connector.expressions.SortOrder
import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.write.{BatchWrite, RequiresDistributionAndOrdering}

import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.write.{IcebergBatchWrite, WriteMetrics, WriteTasks}

/**
 * The write of an upsert. It requires that Spark passes all rows with the same key to one task, next to each other, so
 * that the task can detect duplicate keys.
 *
 * @param stream how a micro-batch of a stream finds the rows that it replaces
 */
final private[iceberglite] class UpsertWrite(plan: UpsertPlan, stream: StreamSearch)
    extends RequiresDistributionAndOrdering
    with ErrorBoundary {
  override protected def errorName: String = plan.rowPlan.table.name

  override def description: String = s"IcebergWrite(table=${plan.rowPlan.table.name}, mode=upsert)"

  override def requiredDistribution: Distribution = plan.key.distribution

  override def distributionStrictlyRequired: Boolean = true

  override def requiredOrdering: Array[SortOrder] = plan.key.ordering

  override def advisoryPartitionSizeInBytes: Long = plan.rowPlan.advisorySize

  override def toBatch: BatchWrite = in(new IcebergBatchWrite(tasks))

  /** Returns the tasks of the upsert and the commit of their results, for a batch or a micro-batch of a stream. */
  private[iceberglite] def tasks: WriteTasks = new UpsertTasks(plan, stream)

  override def supportedCustomMetrics: Array[CustomMetric] = WriteMetrics.all

  override def toString: String = description
}
