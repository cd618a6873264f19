package iceberglite.spark.maintenance

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Expression => SparkExpression, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, LogicalPlan}
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, DataSourceV2ScanRelation}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.conf.TimeTravel
import iceberglite.spark.read.IcebergScan
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue}
import iceberglite.table.{SnapshotTarget, Table}

/** Converts the conditions with which a user selects the files to rewrite. */
private[iceberglite] object FileCondition {

  /**
   * Parses a condition in SQL. Spark resolves the condition, and pushes it down in the same way as the filter of a
   * query.
   *
   * @return a condition that `where` implies: all rows that satisfy `where` satisfy it too
   * @throws InvalidArgument if no part of the condition can be evaluated on files
   * @throws org.apache.spark.sql.AnalysisException if the text is not a condition on the columns of the table
   */
  def parse(session: SparkSession, table: Table, to: SnapshotTarget, where: String): Expression =
    of(session, table, to, session.sessionState.sqlParser.parseExpression(where), "argument where", where)

  /**
   * Converts a Spark expression. Spark pushes it down in the same way as the filter of a query. The columns of the
   * expression are found by name.
   *
   * @param subject the clause or the argument with the condition, for messages
   * @param text the condition in SQL, for messages
   * @return a condition that `condition` implies: all rows that satisfy `condition` satisfy it too
   * @throws InvalidArgument if no part of the condition can be evaluated on files
   */
  def of(
      session: SparkSession,
      table: Table,
      to: SnapshotTarget,
      condition: SparkExpression,
      subject: String,
      text: String
  ): Expression = {
    val travel = to match {
      case SnapshotTarget.Branch(name, _) => TimeTravel.OnBranch(name)
      case _ => TimeTravel.Latest
    }
    val sparkTable = new SparkTable(() => table, travel)
    val relation = DataSourceV2Relation.create(sparkTable, None, None, CaseInsensitiveStringMap.empty)
    if (condition.exists(_.isInstanceOf[SubqueryExpression]))
      throw InvalidArgument(subject, text, "It must not contain a subquery")
    val filter = Filter(ColumnsByName(condition), relation)
    val optimized = session.sessionState.executePlan(filter).optimizedPlan
    val selectsAll = !optimized.exists(_.isInstanceOf[Filter])
    pushed(optimized).filter(_ != AlwaysTrue || selectsAll).getOrElse(
      throw InvalidArgument(subject, text, "No part of it can be evaluated on files: compare columns with constants")
    )
  }

  private def pushed(plan: LogicalPlan): Option[Expression] = plan.collectFirst {
    case DataSourceV2ScanRelation(_, scan: IcebergScan, _, _, _) => scan.filter
    case LocalRelation(_, Seq(), _) => AlwaysFalse
  }
}
