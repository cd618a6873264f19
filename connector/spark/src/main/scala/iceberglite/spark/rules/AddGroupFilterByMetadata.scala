package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{Exists, Literal}
import org.apache.spark.sql.catalyst.plans.{FullOuter, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, ReplaceData}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

import iceberglite.spark.rowlevel.CopyOnWriteOperation

/**
 * Adds the query that finds the files to rewrite (group filter) to a copy-on-write MERGE whose condition names metadata
 * columns. Spark would use only the columns of the table for this query. [[PrepareRowLevelOperations]] prevents Spark
 * from adding its own query.
 */
object AddGroupFilterByMetadata extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write @ ReplaceData(table: DataSourceV2Relation, Literal.TrueLiteral, query, _, None, _) =>
      write.operation match {
        case copy: CopyOnWriteOperation if copy.statement.analysis.findsFilesByMetadata =>
          withCondition(write, table, query)
        case _ => plan
      }
    case _ => plan
  }

  private def withCondition(write: ReplaceData, table: DataSourceV2Relation, query: LogicalPlan): LogicalPlan = {
    def readsTable(side: LogicalPlan) = side.exists {
      case read: DataSourceV2Relation => read.table eq table.table
      case _ => false
    }
    query.collectFirst { case join: Join if readsTable(join.left) => join } match {
      case Some(Join(target, source, LeftOuter | FullOuter, Some(condition), _)) if RepeatableQuery(source) =>
        val outer = condition.references.intersect(target.outputSet).toSeq
        // At this point, the optimizer has already moved the conditions of subqueries into `joinCond`.
        val hasMatch = Exists(source, outer, joinCond = Seq(condition))
        if (outer.isEmpty) write else write.copy(condition = condition, groupFilterCondition = Some(hasMatch))
      // If the source is empty, Spark has already removed the join.
      case None if !query.exists(_.isInstanceOf[Join]) => write.copy(condition = Literal.FalseLiteral)
      case _ => write
    }
  }
}
