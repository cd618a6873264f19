package iceberglite.spark.read.aggregate

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection}
import org.apache.spark.sql.catalyst.util.truncatedString
import org.apache.spark.sql.execution.LeafExecNode
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/**
 * Returns rows that were computed when the query was planned. If the driver collects the rows, no job runs.
 *
 * @param description the source of the rows, for EXPLAIN
 */
final private[aggregate] case class AggregateScanExec(
    override val output: Seq[Attribute],
    rows: Vector[InternalRow],
    description: String
) extends LeafExecNode {
  override def nodeName: String = "MetadataAnswer"

  override lazy val metrics: Map[String, SQLMetric] =
    Map("numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  private lazy val unsafeRows: Vector[InternalRow] = {
    val toUnsafe = UnsafeProjection.create(output, output)
    rows.map(toUnsafe(_).copy())
  }

  override protected def doExecute(): RDD[InternalRow] =
    sparkContext.parallelize(
      countOutput(unsafeRows),
      math.max(1, math.min(unsafeRows.size, sparkContext.defaultParallelism))
    )

  override def executeCollect(): Array[InternalRow] = countOutput(unsafeRows).toArray
  override def executeTake(limit: Int): Array[InternalRow] = countOutput(unsafeRows.take(limit)).toArray
  override def executeTail(limit: Int): Array[InternalRow] = countOutput(unsafeRows.takeRight(limit)).toArray

  override def simpleString(maxFields: Int): String =
    s"$nodeName ${truncatedString(output, "[", ", ", "]", maxFields)} $description"

  override def verboseStringWithOperatorId(): String =
    s"$formattedNodeName\nOutput: ${output.mkString("[", ", ", "]")}\n$description\n"

  private def countOutput(returnedRows: Vector[InternalRow]): Vector[InternalRow] = {
    metrics("numOutputRows") += returnedRows.size.toLong
    returnedRows
  }
}
