package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{ApplyFunctionExpression, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.StringType

import iceberglite.data.VariantPath
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.function.{VariantGet, VariantGetFunction}
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * Replaces calls of `variant_get(variant, path, type)`, whose type depends on the value of the last argument. Spark
 * passes only the types of the arguments to a function of a catalog.
 */
object ResolveVariantGet extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveExpressions {
    case call @ ApplyFunctionExpression(function: VariantGetFunction.Placeholder, Seq(variant, path, t))
        if call.childrenResolved =>
      SparkErrors.in(function.name) {
        VariantGet(
          variant,
          VariantPath.parse(constant(path, "path")),
          VariantGet.typeOf(constant(t, "type")),
          function.failOnError,
          conf.sessionLocalTimeZone
        )
      }
  }

  private def constant(argument: Expression, name: String): String =
    if (argument.foldable && argument.dataType == StringType && argument.eval() != null) argument.eval().toString
    else throw InvalidArgument(name, argument.sql, "It must be a constant text")
}
