package iceberglite.spark.rules

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier
import org.apache.spark.sql.catalyst.plans.logical.{CreateTable, LogicalPlan, ReplaceTable}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.GeneratedColumn
import org.apache.spark.sql.types.StructType

import iceberglite.spark.constraint.ConstraintExpression
import iceberglite.spark.session.LiteCatalog

/**
 * Rejects aggregate and window functions in the expressions of generated columns. Spark's own check of these
 * expressions, which runs later, fails with an exception that names neither the column nor the reason.
 */
private[iceberglite] object CheckGenerationExpressions extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case CreateTable(ResolvedIdentifier(_: LiteCatalog, _), columns, _, _, _) => check(columns)
      case ReplaceTable(ResolvedIdentifier(_: LiteCatalog, _), columns, _, _, _) => check(columns)
      case _ =>
    }
    plan
  }

  private def check(columns: StructType): Unit =
    for (field <- columns; expression <- GeneratedColumn.getGenerationExpression(field))
      if (ConstraintExpression.usesSeveralRows(expression, columns)) throw new AnalysisException(
        "UNSUPPORTED_EXPRESSION_GENERATED_COLUMN",
        Map(
          "fieldName" -> field.name,
          "expressionStr" -> expression,
          "reason" -> "generation expression cannot contain an aggregate or window function"
        )
      )
}
