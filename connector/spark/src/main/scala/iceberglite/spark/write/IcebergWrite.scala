package iceberglite.spark.write

import org.apache.spark.sql.connector.distributions.Distribution
import org.apache.spark.sql.connector.expressions.SortOrder
import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.write.{BatchWrite, RequiresDistributionAndOrdering}

import iceberglite.spark.error.ErrorBoundary

/**
 * A write that creates data files. It reports to Spark how the rows must be distributed and sorted before they are
 * written.
 */
final private[iceberglite] class IcebergWrite(plan: WritePlan, mode: WriteMode)
    extends RequiresDistributionAndOrdering
    with ErrorBoundary {
  override protected def errorName: String = plan.table.name

  override def description: String = s"IcebergWrite(table=${plan.table.name}, mode=$mode)"

  override def requiredDistribution: Distribution = plan.requirements.distribution

  /** Returns false, so that Spark may split large shuffle partitions and combine small ones. */
  override def distributionStrictlyRequired: Boolean = false

  override def requiredOrdering: Array[SortOrder] = plan.requirements.ordering

  /**
   * Returns the advisory size of a shuffle partition. Returns 0 if no distribution is required, because Spark rejects
   * an advisory size without a distribution.
   */
  override def advisoryPartitionSizeInBytes: Long =
    in(if (plan.requirements.isDistributed) plan.advisorySize else 0L)

  override def toBatch: BatchWrite = in(new IcebergBatchWrite(new RowTasks(plan, mode)))

  override def supportedCustomMetrics: Array[CustomMetric] =
    in(if (plan.rows.changeColumnIndex.isDefined) WriteMetrics.ofCopyOnWrite else WriteMetrics.all)

  override def toString: String = description
}
