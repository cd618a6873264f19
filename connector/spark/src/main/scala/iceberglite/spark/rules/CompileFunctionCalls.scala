package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{
  And,
  ApplyFunctionExpression,
  DynamicPruningSubquery,
  Literal,
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
private[iceberglite] object CompileFunctionCalls extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformAllExpressions {
    case ApplyFunctionExpression(Functions.Interpreted(function), arguments) =>
      V2ExpressionUtils.resolveScalarFunction(function, arguments)
    // Scans have already used the test to skip files. The condition from which the test was derived is more exact, and
    // remains.
    case And(condition, ScanTest()) => condition
    case ScanTest() => Literal.TrueLiteral
    // The constant becomes the second argument, because the function prepares a second argument that is the same for
    // many rows.
    case SpatialCondition.ConstantFirst(swapped) => swapped
    // The query of a runtime filter must remain the same as the side of the join whose copy it is.
    case filter: DynamicPruningSubquery => filter.withNewPlan(apply(filter.plan))
  }
}
