package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeSet,
  DynamicPruningSubquery,
  Expression,
  GetStructField,
  V2ExpressionUtils
}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight, JoinSelectionHelper}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.logical.statsEstimation.EstimationUtils
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan, Project, Subquery}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation

import iceberglite.spark.read.IcebergScan

/**
 * Adds a runtime filter with the keys of the broadcast side of a join to the streamed side. The filter selects files of
 * the streamed side by their partitions and by the bounds of the key columns. Spark itself adds such a filter only if
 * the broadcast side has a selective condition, because Spark may have to run that side twice. This rule adds a filter
 * only if one side is broadcast anyway, so that the only cost of the filter is collecting the keys.
 */
object AddBroadcastPruning extends Rule[LogicalPlan] with JoinSelectionHelper {

  /**
   * Minimum number of rows of the scan per key of the broadcast side. This minimum applies if there are more than
   * [[FewKeys]] keys.
   */
  private val RowsForEachKey = 10

  /** Maximum number of keys for which the filter is always added. */
  private val FewKeys = BigInt(1000)

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case query: Subquery if query.correlated => plan
    case _ if !conf.dynamicPartitionPruningEnabled || !conf.exchangeReuseEnabled => plan
    case _ => plan.transformUp { case join: Join if join.condition.isDefined && hasScan(join) => withPruning(join) }
  }

  private def hasScan(plan: LogicalPlan): Boolean = plan.exists {
    case r: DataSourceV2ScanRelation => r.scan.isInstanceOf[IcebergScan]
    case _ => false
  }

  private def withPruning(join: Join): Join = join match {
    case ExtractEquiJoinKeys(kind, leftKeys, rightKeys, _, _, left, right, hint) =>
      def buildSide(hintOnly: Boolean) = getBroadcastBuildSide(left, right, kind, hint, hintOnly, conf)
      buildSide(hintOnly = true).orElse(buildSide(hintOnly = false)) match {
        case Some(BuildRight) if canPruneLeft(kind) => join.copy(left = pruned(left, leftKeys, right, rightKeys))
        case Some(BuildLeft) if canPruneRight(kind) => join.copy(right = pruned(right, rightKeys, left, leftKeys))
        case _ => join
      }
    case _ => join
  }

  /** Returns the streamed side of a join, with one filter for each key that can select files. */
  private def pruned(
      streamed: LogicalPlan,
      keys: Seq[Expression],
      built: LogicalPlan,
      builtKeys: Seq[Expression]
  ): LogicalPlan = keys.zipWithIndex.foldLeft(streamed) { case (plan, (key, index)) =>
    scanOf(key, plan).filter { case (_, scan) => paysOff(built, scan) }.fold(plan) { case (column, scan) =>
      val filter = DynamicPruningSubquery(column, built, builtKeys, index, onlyInBroadcast = true)
      plan.transformUp { case s: DataSourceV2ScanRelation if s eq scan => Filter(filter, s) }
    }
  }

  /**
   * Whether the filter saves more time than it costs. Spark collects the keys on the driver. Collecting many keys takes
   * longer than reading a small table without the filter.
   */
  private def paysOff(built: LogicalPlan, scan: DataSourceV2ScanRelation): Boolean =
    estimatedRows(built) <= (estimatedRows(scan) / RowsForEachKey).max(FewKeys)

  private def estimatedRows(plan: LogicalPlan): BigInt =
    plan.stats.rowCount.getOrElse(plan.stats.sizeInBytes / EstimationUtils.getSizePerRow(plan.output))

  /**
   * Returns the scan that provides a join key and can select files by the key. The result also has the key as an
   * expression on columns of the scan. Absent if there is no such scan, or if the plan already has a filter on the key.
   */
  private def scanOf(key: Expression, plan: LogicalPlan): Option[(Expression, DataSourceV2ScanRelation)] = plan match {
    case Project(columns, child) if columns.forall(_.deterministic) || key.references.subsetOf(child.outputSet) =>
      val sources = columns.collect { case a: Alias => (a.toAttribute: Attribute) -> a.child }.toMap
      scanOf(key.transform { case a: Attribute => sources.getOrElse(a, a) }, child)
    case Filter(condition, _) if condition.exists(isPruningBy(key)) => None
    case Filter(_, child) => scanOf(key, child)
    case relation @ DataSourceV2ScanRelation(_, scan: IcebergScan, _, _, _) =>
      val columns = AttributeSet(V2ExpressionUtils.resolveRefs[Attribute](scan.filterAttributes.toSeq, relation))
      if (isColumn(key) && key.references.subsetOf(columns)) Some(key -> relation) else None
    case _ => None
  }

  /** Whether the key is a column. Spark passes only columns to a scan. */
  private def isColumn(key: Expression): Boolean = key match {
    case _: Attribute => true
    case GetStructField(struct, _, _) => isColumn(struct)
    case _ => false
  }

  /** Whether a filter on the key already exists, from this rule or from Spark. */
  private def isPruningBy(key: Expression)(filter: Expression): Boolean = filter match {
    case pruning: DynamicPruningSubquery => pruning.pruningKey.semanticEquals(key)
    case _ => false
  }
}
