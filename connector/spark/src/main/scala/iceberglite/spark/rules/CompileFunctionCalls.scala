package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{
  And,
  ApplyFunctionExpression,
  DynamicPruningSubquery,
  Expression,
  Literal,
  PredicateHelper,
  V2ExpressionUtils
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

import iceberglite.spark.function.Functions

/**
 * Replaces calls of the connector's functions, such as `system.days(ts)`, by calls that Spark compiles into the
 * generated code of a query.
 *
 * Spark 3.5 pushes a condition with a function down to a scan only while the call is an [[ApplyFunctionExpression]],
 * which Spark interprets for each row. Therefore, this rule runs after scans have received their conditions.
 */
private[iceberglite] object CompileFunctionCalls extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformAllExpressions(withoutScanTests).transformAllExpressions {
      case ApplyFunctionExpression(Functions.Interpreted(function), arguments) =>
        V2ExpressionUtils.resolveScalarFunction(function, arguments)
      // The constant becomes the second argument, because the function prepares a second argument that is the same for
      // many rows.
      case SpatialCondition.ConstantFirst(swapped) => swapped
      // The query of a runtime filter must remain the same as the side of the join whose copy it is.
      case filter: DynamicPruningSubquery => filter.withNewPlan(apply(filter.plan))
    }

  /**
   * Removes tests that scans have already used to skip files. The conditions from which the tests were derived are more
   * exact, and remain.
   */
  private val withoutScanTests: PartialFunction[Expression, Expression] = {
    case ScanTest() => Literal.TrueLiteral
    case and: And if splitConjunctivePredicates(and).exists(ScanTest.unapply) =>
      splitConjunctivePredicates(and).filterNot(ScanTest.unapply).reduceOption(And).getOrElse(Literal.TrueLiteral)
  }
}
