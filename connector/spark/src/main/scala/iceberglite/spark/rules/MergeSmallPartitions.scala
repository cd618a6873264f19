package iceberglite.spark.rules

import scala.concurrent.Await
import scala.concurrent.duration.Duration

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.adaptive.ShufflePartitionsUtil
import org.apache.spark.sql.execution.datasources.v2.WriteToDataSourceV2Exec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.streaming.sources.MicroBatchWrite
import org.apache.spark.sql.execution.{ColumnarRule, ProjectExec, SortExec, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.internal.SQLConf

import iceberglite.spark.stream.sink.IcebergStreamingWrite

/**
 * Merges small shuffle partitions of a micro-batch before they are written. Spark merges partitions with adaptive
 * query execution, which it disables for streams. Without this rule, a micro-batch into a sorted table would write up
 * to `spark.sql.shuffle.partitions` files, however small the micro-batch is.
 */
object MergeSmallPartitions extends ColumnarRule {

  override val preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override val ruleName: String = "MergeSmallPartitions"

    override def apply(plan: SparkPlan): SparkPlan = plan match {
      case write @ WriteToDataSourceV2Exec(batch: MicroBatchWrite, _, query, _)
          if batch.writeSupport.isInstanceOf[IcebergStreamingWrite] && conf.coalesceShufflePartitionsEnabled =>
        write.copy(query = merged(query))
      case _ => plan
    }

    /** Merges the partitions of the shuffle that the write requires. Only this shuffle has an advisory size. */
    private def merged(query: SparkPlan): SparkPlan = query match {
      case sort: SortExec if !sort.global => sort.copy(child = merged(sort.child))
      case project: ProjectExec => project.copy(child = merged(project.child))
      case shuffle: ShuffleExchangeExec => shuffle.advisoryPartitionSize.fold(query)(MergedPartitionsExec(shuffle, _))
      case _ => query
    }
  }
}

/**
 * The rows of a shuffle, with adjacent small partitions merged. The settings of adaptive execution apply.
 *
 * @param targetSize size of a merged partition in bytes; partitions are smaller if there would be idle cores
 */
final private[iceberglite] case class MergedPartitionsExec(child: SparkPlan, targetSize: Long) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = UnknownPartitioning(child.outputPartitioning.numPartitions)

  override protected def doExecute(): RDD[InternalRow] = child match {
    case shuffle: ShuffleExchangeExec =>
      // Spark returns null if the shuffle has no input partition.
      val sizes = Option(Await.result(shuffle.mapOutputStatisticsFuture, Duration.Inf))
      val groups = ShufflePartitionsUtil.coalescePartitions(
        Seq(sizes),
        Seq(None),
        targetSize,
        conf.getConf(SQLConf.COALESCE_PARTITIONS_MIN_PARTITION_NUM).getOrElse(minimumCount),
        conf.getConf(SQLConf.COALESCE_PARTITIONS_MIN_PARTITION_SIZE)
      )
      groups.headOption.fold(shuffle.execute())(group => shuffle.getShuffleRDD(group.toArray))
    case other => other.execute()
  }

  private def minimumCount: Int =
    if (conf.getConf(SQLConf.COALESCE_PARTITIONS_PARALLELISM_FIRST)) session.sparkContext.defaultParallelism else 1

  override protected def withNewChildInternal(newChild: SparkPlan): MergedPartitionsExec = copy(child = newChild)
}
