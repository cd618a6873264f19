package iceberglite.spark.write

import org.apache.spark.sql.connector.distributions.Distribution
import org.apache.spark.sql.connector.expressions.SortOrder
import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.write.{BatchWrite, RequiresDistributionAndOrdering}

/** What Spark plans a write by. */
final private[write] class IcebergWrite(plan: WritePlan, mode: WriteMode) extends RequiresDistributionAndOrdering {
  override def description: String = s"IcebergWrite(table=${plan.table.name}, mode=$mode)"

  override def requiredDistribution: Distribution = plan.requirements.distribution

  /** Spark may split a partition that is too large, and put small ones together. */
  override def distributionStrictlyRequired: Boolean = false

  override def requiredOrdering: Array[SortOrder] = plan.requirements.ordering

  /** Spark takes no advice where it need not shuffle. */
  override def advisoryPartitionSizeInBytes: Long = if (plan.requirements.isDistributed) plan.advisorySize else 0L

  override def toBatch: BatchWrite = new IcebergBatchWrite(plan, mode)

  override def supportedCustomMetrics: Array[CustomMetric] =
    if (plan.changeAt.isDefined) WriteMetrics.ofCopies else WriteMetrics.all

  override def toString: String = description
}
