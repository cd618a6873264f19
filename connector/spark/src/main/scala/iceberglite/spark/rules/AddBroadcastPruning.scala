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
 * Uses the broadcast side of a join to select files of the other side, by partitions and by the bounds of the key
 * column. Spark itself does so only for a side with a selective condition, because it may have to run that side twice.
 * With an existing broadcast, the only cost is collecting the keys.
 */
object AddBroadcastPruning extends Rule[LogicalPlan] with JoinSelectionHelper {

  /** Minimum number of rows of a scan for each key of the broadcast side. */
  private val RowsForEachKey = 10

  /** Number of keys up to which pruning always pays off. */
  private val FewKeys = BigInt(1000)

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case query: Subquery if query.correlated => plan
    case _ if !conf.dynamicPartitionPruningEnabled || !conf.exchangeReuseEnabled => plan
    case _ => plan.transformUp { case join: Join if join.condition.isDefined && hasScan(join) => filtered(join) }
  }

  private def hasScan(plan: LogicalPlan): Boolean = plan.exists {
    case r: DataSourceV2ScanRelation => r.scan.isInstanceOf[IcebergScan]
    case _ => false
  }

  private def filtered(join: Join): Join = join match {
    case ExtractEquiJoinKeys(kind, leftKeys, rightKeys, _, _, left, right, hint) =>
      def build(hintOnly: Boolean) = getBroadcastBuildSide(left, right, kind, hint, hintOnly, conf)
      build(hintOnly = true).orElse(build(hintOnly = false)) match {
        case Some(BuildRight) if canPruneLeft(kind) => join.copy(left = filtered(left, leftKeys, right, rightKeys))
        case Some(BuildLeft) if canPruneRight(kind) => join.copy(right = filtered(right, rightKeys, left, leftKeys))
        case _ => join
      }
    case _ => join
  }

  private def filtered(
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
   * Whether the filter pays off. Spark collects the keys on the driver. For many keys, this is slower than reading a
   * small table without the filter.
   */
  private def paysOff(built: LogicalPlan, scan: DataSourceV2ScanRelation): Boolean =
    rows(built) <= (rows(scan) / RowsForEachKey).max(FewKeys)

  private def rows(plan: LogicalPlan): BigInt =
    plan.stats.rowCount.getOrElse(plan.stats.sizeInBytes / EstimationUtils.getSizePerRow(plan.output))

  /**
   * Returns the scan that provides a key and can select files by it, and the key as an expression on columns of the
   * scan.
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
