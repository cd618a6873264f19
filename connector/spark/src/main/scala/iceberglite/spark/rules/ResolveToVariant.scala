package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.analysis.{ResolveInlineTables, UnresolvedInlineTable}
import org.apache.spark.sql.catalyst.expressions.{Alias, ApplyFunctionExpression, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule

import iceberglite.spark.convert.VariantsAsJson
import iceberglite.spark.function.{ToVariant, ToVariantFunction}
import iceberglite.spec.types.Type.VariantType

/**
 * Replaces calls of `to_variant`, which return JSON text like a read of a variant. [[WriteExactVariants]] makes the
 * values that are written to variants exact.
 */
object ResolveToVariant extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case table: UnresolvedInlineTable if table.rows.exists(_.exists(hasCall)) => inlineTable(table)
    case node => node.transformExpressions(replacement)
  }

  private def hasCall(expression: Expression): Boolean =
    expression.exists(e => e.isInstanceOf[PendingCell] || replacement.isDefinedAt(e))

  private val replacement: PartialFunction[Expression, Expression] = {
    case call @ ApplyFunctionExpression(ToVariantFunction.Placeholder, Seq(value)) if call.childrenResolved =>
      VariantsAsJson(ToVariant(value), VariantType)
  }

  /**
   * Returns the table with the rows of VALUES. Spark computes these rows now, so that the exact variants must be in
   * them. A projection makes them JSON text.
   */
  private def inlineTable(table: UnresolvedInlineTable): LogicalPlan = {
    val rows = table.rows.map(_.map {
      case PendingCell(value) => value.transformUp(replacement)
      case value => value.transformUp(replacement)
    })
    if (!rows.forall(_.forall(_.resolved))) table.copy(rows = table.rows.zip(rows).map { case (old, row) =>
      old.zip(row).map { case (before, value) => if (hasCall(before)) PendingCell(value) else value }
    })
    // Spark reports rows of different lengths.
    else if (rows.map(_.size).distinct.size > 1) ResolveInlineTables(table.copy(rows = rows))
    else {
      val shapes = rows.transpose.map(column => VariantShapes.merged(column.map(VariantShapes.of)))
      val exact = rows.map(_.zip(shapes).map { case (value, t) => t.fold(value)(VariantShapes.exact(value, _)) })
      ResolveInlineTables(table.copy(rows = exact)) match {
        case rows if rows.resolved =>
          Project(
            rows.output.zip(shapes).map {
              case (column, Some(t)) => Alias(VariantsAsJson(column, t), column.name)()
              case (column, None) => column
            },
            rows
          )
        case unresolved => unresolved
      }
    }
  }
}
