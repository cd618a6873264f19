package iceberglite.spark.rules

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.QueryPlanningTracker
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, LogicalPlan, OverwriteByExpression}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.sql.SparkSession

import iceberglite.spark.conf.{OverwriteOptions, StatementOptions}
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * Converts an overwrite of all rows with the write option `replaceWhere` to an overwrite with this condition. The query
 * fails at the first new row that does not satisfy the condition. If such a row were written, a rerun of the job would
 * not replace the row, but add it again.
 */
final class RewriteReplaceWhere(session: SparkSession) extends Rule[LogicalPlan] {
  private val option = OverwriteOptions.ReplaceWhere

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case write: OverwriteByExpression
        if write.resolved && write.outputResolved && write.write.isEmpty && write.deleteExpr == TrueLiteral =>
      write.table match {
        case relation @ DataSourceV2Relation(table: SparkTable, _, _, _, _) if !table.table.isStaged =>
          val options = StatementOptions(table.statementOptions.values ++ write.writeOptions)
          table.in {
            options.replaceWhere.filterNot(_ => options.isDynamic).fold[LogicalPlan](write) { text =>
              rewritten(write, relation, table, text)
            }
          }
        case _ => write
      }
  }

  private def rewritten(
      write: OverwriteByExpression,
      relation: DataSourceV2Relation,
      table: SparkTable,
      text: String
  ): LogicalPlan = {
    val condition = resolved(text, relation, table.name)
    val otherOptions = table.statementOptions.without(option)
    val target =
      if (otherOptions == table.statementOptions) relation
      else relation.copy(table = table.changedWith(otherOptions))
    write.copy(
      table = target,
      deleteExpr = condition,
      query =
        Filter(Or(EqualNullSafe(onNewRows(condition, write, relation, text), TrueLiteral), failure(text)), write.query),
      writeOptions = StatementOptions(write.writeOptions).without(option).values
    )
  }

  /**
   * Resolves the text of the condition.
   *
   * @throws InvalidArgument if the text is not a condition on the columns of the table
   */
  private def resolved(text: String, relation: DataSourceV2Relation, table: String): Expression = {
    def invalid(reason: String) = InvalidArgument(
      s"option ${option.key}",
      text,
      s"It must be a condition in SQL on the columns of $table${if (reason.isEmpty) "" else s": $reason"}"
    )
    val condition =
      try {
        val parsed = Filter(session.sessionState.sqlParser.parseExpression(text), LocalRelation(relation.output))
        session.sessionState.analyzer.executeAndCheck(parsed, new QueryPlanningTracker).expressions.head
      } catch { case NonFatal(error) => throw invalid(error.getMessage) }
    if (condition.dataType != BooleanType) throw invalid("")
    if (SubqueryExpression.hasSubquery(condition)) throw invalid("subqueries are not supported")
    if (!condition.deterministic) throw invalid("it must be deterministic")
    condition
  }

  /**
   * Returns the condition with references to the columns of the new rows instead of the table's columns. The columns
   * are matched by position or by name, like the columns of the write.
   */
  private def onNewRows(
      condition: Expression,
      write: OverwriteByExpression,
      relation: DataSourceV2Relation,
      text: String
  ): Expression = condition.transform { case column: AttributeReference =>
    val value =
      if (relation.skipSchemaResolution) write.query.output.find(a => conf.resolver(a.name, column.name))
      else Some(write.query.output(relation.output.indexWhere(_.exprId == column.exprId)))
    value.filter(v => Cast.canCast(v.dataType, column.dataType)) match {
      case Some(same) if same.dataType == column.dataType => same
      case Some(other) => Cast(other, column.dataType, Some(conf.sessionLocalTimeZone))
      case None => throw InvalidArgument(
          s"option ${option.key}",
          text,
          s"The condition uses the column ${column.name}, but the new rows have no such column of type " +
            column.dataType.sql
        )
    }
  }

  private def failure(text: String): Expression = RaiseError(
    Literal(
      s"A new row does not satisfy ${option.key}=$text. Write only rows that satisfy it, or set a condition that " +
        "all new rows satisfy"
    ),
    BooleanType
  )
}
