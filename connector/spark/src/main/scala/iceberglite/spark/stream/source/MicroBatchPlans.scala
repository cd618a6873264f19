package iceberglite.spark.stream.source

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Statistics, UnaryNode}
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2Relation
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

/**
 * The rows of a micro-batch as rows that do not belong to a stream. Spark groups such rows within the micro-batch, and
 * keeps no state for the groups.
 */
final private[iceberglite] case class MicroBatchRows(relation: StreamingDataSourceV2Relation) extends LeafNode {
  override def output: Seq[Attribute] = relation.output
  override def isStreaming: Boolean = false
  override def computeStats(): Statistics = relation.stats
}

/** The result of a query on [[MicroBatchRows]], as rows of a stream for the rest of the streaming query. */
final private[iceberglite] case class MicroBatchResult(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def isStreaming: Boolean = true
  override protected def withNewChildInternal(newChild: LogicalPlan): LogicalPlan = copy(child = newChild)
}

/** Plans [[MicroBatchRows]] and [[MicroBatchResult]], which only change how Spark plans other operators. */
private[iceberglite] object MicroBatchStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case MicroBatchRows(relation) => Seq(planLater(relation))
    case MicroBatchResult(child) => Seq(planLater(child))
    case _ => Nil
  }
}
