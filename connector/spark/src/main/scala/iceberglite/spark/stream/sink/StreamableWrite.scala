package iceberglite.spark.stream.sink

import org.apache.spark.sql.connector.distributions.Distribution
import org.apache.spark.sql.connector.expressions.SortOrder
import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.write.streaming.StreamingWrite
import org.apache.spark.sql.connector.write.{BatchWrite, RequiresDistributionAndOrdering}

import iceberglite.spark.error.ErrorBoundary

/**
 * A write that Spark runs as a batch or for a micro-batch of a stream. The rows have the same distribution and order in
 * both cases.
 *
 * @param table the name of the table, for messages
 * @param stream returns the write of the micro-batch
 */
final private[iceberglite] class StreamableWrite(
    batch: RequiresDistributionAndOrdering,
    table: String,
    stream: () => StreamingWrite
) extends RequiresDistributionAndOrdering
    with ErrorBoundary {
  override protected def errorName: String = table

  override def description: String = batch.description

  override def requiredDistribution: Distribution = batch.requiredDistribution

  override def distributionStrictlyRequired: Boolean = batch.distributionStrictlyRequired

  override def requiredOrdering: Array[SortOrder] = batch.requiredOrdering

  override def advisoryPartitionSizeInBytes: Long = batch.advisoryPartitionSizeInBytes

  override def toBatch: BatchWrite = batch.toBatch

  override def toStreaming: StreamingWrite = in(stream())

  override def supportedCustomMetrics: Array[CustomMetric] = batch.supportedCustomMetrics

  override def toString: String = batch.toString
}
