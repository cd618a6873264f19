package iceberglite.spark.maintenance

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression
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

/** Conditions that choose files. */
private[iceberglite] object FileCondition {

  /**
   * Parses a condition in SQL. Spark resolves it, and pushes it down as for a query.
   *
   * @return a condition that every row that satisfies `where` also satisfies
   * @throws InvalidArgument no part of the condition can be evaluated on files
   * @throws org.apache.spark.sql.AnalysisException the text is not a condition on the columns of the table
   */
  def parse(session: SparkSession, table: Table, to: SnapshotTarget, where: String): Expression = {
    val travel = to match {
      case SnapshotTarget.Branch(name, _) => TimeTravel.OnBranch(name)
      case _ => TimeTravel.Latest
    }
    val sparkTable = new SparkTable(() => table, travel)
    val relation = DataSourceV2Relation.create(sparkTable, None, None, CaseInsensitiveStringMap.empty)
    val condition = session.sessionState.sqlParser.parseExpression(where)
    if (condition.exists(_.isInstanceOf[SubqueryExpression])) throw InvalidArgument(
      "argument where",
      where,
      "It must not contain a subquery"
    )
    val optimized = session.sessionState.executePlan(Filter(condition, relation)).optimizedPlan
    val selectsAll = !optimized.exists(_.isInstanceOf[Filter])
    pushed(optimized).filter(_ != AlwaysTrue || selectsAll).getOrElse(throw InvalidArgument(
      "argument where",
      where,
      "No part of it can be evaluated on files: compare columns with constants"
    ))
  }

  private def pushed(plan: LogicalPlan): Option[Expression] = plan.collectFirst {
    case DataSourceV2ScanRelation(_, scan: IcebergScan, _, _, _) => scan.filter
    case LocalRelation(_, Seq(), _) => AlwaysFalse
  }
}
