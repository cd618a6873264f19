package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.catalog.HiveTableRelation
import org.apache.spark.sql.catalyst.expressions.{Expression, SubqueryExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, DataSourceV2ScanRelation, FileTable}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.{ExternalRDD, LogicalRDD}

import iceberglite.spark.rowlevel.CopyOnWriteOperation
import iceberglite.spark.session.PinnableTable

/**
 * Determines whether a query that runs more than once in a statement returns the same rows each time. Deterministic
 * functions, which Spark requires, are not sufficient: the rows of a LIMIT, the values of FIRST, and the rows that a
 * database or a stream returns may differ between runs.
 *
 * Exception: sums and averages of floating-point numbers are accepted, although their last bits can differ between
 * runs. This has no effect on a statement that only stores such numbers. If the result of a condition depends on the
 * last bits of such a number, the runs can disagree about a row. Then a MERGE can insert a row that has a match, or
 * skip a row without a match. A copy-on-write UPDATE with Python functions can lose or duplicate a row.
 */
private[rules] object RepeatableQuery {

  def apply(plan: LogicalPlan): Boolean = plan.deterministic && !plan.isStreaming && !plan.exists(mayDiffer)

  private def mayDiffer(node: LogicalPlan): Boolean =
    (node match {
      case _: GlobalLimit | _: LocalLimit | _: Offset | _: Tail | _: Sample | _: Window | _: Deduplicate => true
      case aggregate: Aggregate => aggregate.expressions.exists(_.exists(dependsOnOrder))
      case leaf: LeafNode => !isFixed(leaf)
      case _ => false
    }) || node.expressions.exists(_.exists {
      case subquery: SubqueryExpression => !RepeatableQuery(subquery.plan)
      case _ => false
    })

  private def dependsOnOrder(e: Expression): Boolean = e match {
    // The last bits of floating-point sums and averages do depend on the order; see the comment on the object.
    case _: Count | _: Sum | _: Average | _: Min | _: Max => false
    case _: AggregateFunction => true
    case _ => false
  }

  /**
   * Whether a leaf of the plan returns the same rows each time. [[PrepareRowLevelOperations]] pins iceberg-lite tables
   * to a version; Spark lists the files of a file table once.
   */
  private def isFixed(leaf: LeafNode): Boolean = leaf match {
    case DataSourceV2Relation(_: PinnableTable | _: FileTable, _, _, _, _) => true
    case DataSourceV2ScanRelation(DataSourceV2Relation(_: PinnableTable | _: FileTable, _, _, _, _), _, _, _, _) => true
    case LogicalRelation(_: HadoopFsRelation, _, _, _) => true
    case _: InMemoryRelation | _: LocalRelation | _: Range | _: OneRowRelation | _: LogicalRDD | _: ExternalRDD[_] |
        _: HiveTableRelation => true
    case _ => false
  }
}

/**
 * Removes group filters whose result may differ from run to run. A group filter is the separate query with which
 * copy-on-write finds the files with rows to change; other files are kept. If the group filter and the statement
 * evaluated a query differently, a row to change could be in a kept file, and a MERGE would insert the row again.
 * Without the group filter, all files are rewritten, except the files that constants in the condition exclude.
 */
object DropUnstableGroupFilters extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write @ ReplaceData(_, _, _, _, Some(condition), _)
        if write.operation.isInstanceOf[CopyOnWriteOperation] && !isStable(condition) =>
      write.copy(groupFilterCondition = None)
    case _ => plan
  }

  /** Whether all queries in a condition return the same rows each time. */
  private[rules] def isStable(condition: Expression): Boolean = !condition.exists {
    case subquery: SubqueryExpression => !RepeatableQuery(subquery.plan)
    case _ => false
  }
}
