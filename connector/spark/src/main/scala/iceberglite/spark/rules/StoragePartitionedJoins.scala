package iceberglite.spark.rules

import java.util.{Collections, IdentityHashMap}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, JoinSelectionHelper}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.internal.SQLConf

import iceberglite.spark.session.BucketingSettings

/**
 * Groups the files of two scans by their join keys if both tables are partitioned by these keys in the same way. Spark
 * then joins partition by partition, without a shuffle. Scans are grouped only if the join becomes faster, because a
 * grouped scan has at most one task per partition.
 */
private[iceberglite] object StoragePartitionedJoins extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (BucketingSettings.areEnabled(conf)) new StoragePartitionedJoins(conf, SparkSession.active).of(plan) else plan
}

/** Groups the scans of the joins in one plan. */
final private[iceberglite] class StoragePartitionedJoins(conf: SQLConf, session: SparkSession)
    extends JoinSelectionHelper
    with JoinPredictions {
  private val parallelism = session.sparkContext.defaultParallelism
  private val requiresAllKeys = conf.getConf(SQLConf.REQUIRE_ALL_CLUSTER_KEYS_FOR_CO_PARTITION)
  private val groupedJoins = Collections.newSetFromMap(new IdentityHashMap[Join, java.lang.Boolean])

  /** Transforms a plan bottom-up, because the grouping of a join depends on the grouping of the joins below it. */
  def of(plan: LogicalPlan): LogicalPlan = plan.transformUp { case join: Join => grouped(join) }

  private def grouped(join: Join): Join = join match {
    case ExtractEquiJoinKeys(_, leftKeys, rightKeys, _, _, _, _, _) if shufflesBothSides(join) =>
      val sides = for {
        left <- JoinSide.of(join.left, leftKeys, this)
        right <- JoinSide.of(join.right, rightKeys, this)
        (byLeft, byRight) <- GroupMatch.of(left, right, requiresAllKeys)
        if GroupMatch.paysOff(left.groups(byLeft), right.groups(byRight), left.scan.settings, parallelism)
      } yield (left.grouped(byLeft), right.grouped(byRight))
      sides.fold(join) { case (left, right) =>
        val result = join.copy(left = left, right = right)
        groupedJoins.add(result)
        result
      }
    case _ => join
  }

  /** Whether Spark would shuffle the rows of both sides. */
  private def shufflesBothSides(join: Join): Boolean = streamed(join).isEmpty && !hintToShuffleReplicateNL(join.hint)

  override def streamed(join: Join): Option[LogicalPlan] = {
    def buildSide(hintOnly: Boolean) =
      getBroadcastBuildSide(join.left, join.right, join.joinType, join.hint, hintOnly, conf)
    val hasShuffleHint = hintToSortMergeJoin(join.hint) || hintToShuffleHashJoin(join.hint)
    buildSide(hintOnly = true).orElse(if (hasShuffleHint) None else buildSide(hintOnly = false))
      .map(side => if (side == BuildLeft) join.right else join.left)
  }

  override def isKeyGrouped(join: Join): Boolean = groupedJoins.contains(join)
}
