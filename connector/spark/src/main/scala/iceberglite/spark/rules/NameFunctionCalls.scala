package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.objects.Invoke
import org.apache.spark.sql.catalyst.expressions.{Alias, ApplyFunctionExpression, Expression, Literal, PrettyAttribute}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.ALIAS
import org.apache.spark.sql.catalyst.util.toPrettySQL
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction

import iceberglite.spark.function.Functions

/**
 * Names columns that call functions of the connector and have no alias like columns that call functions of Spark, for
 * example `bucket(16, id)`. Spark 3.5 names them by its own classes and methods: `applyfunctionexpression(16, id)`, or
 * `st_astext.invoke(g)` if the function has a method that Spark compiles.
 */
object NameFunctionCalls extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveExpressionsWithPruning(_.containsPattern(ALIAS)) {
    // An alias that a user has chosen is not renamed, unless it equals the name that Spark generates.
    case alias @ Alias(value, name)
        if alias.resolved && value.exists(Call.unapply(_).isDefined) &&
          name == toPrettySQL(value) =>
      Alias(value, nameOf(value))(
        alias.exprId,
        alias.qualifier,
        alias.explicitMetadata,
        alias.nonInheritableMetadataKeys
      )
  }

  private def nameOf(value: Expression): String = toPrettySQL(value.transformDown {
    case call @ Call(function, arguments) =>
      PrettyAttribute(s"${function.name}(${arguments.map(nameOf).mkString(", ")})", call.dataType)
  })

  /** Matches a call of a function of the connector, and returns the function and its arguments. */
  private object Call {
    def unapply(e: Expression): Option[(ScalarFunction[_], Seq[Expression])] = e match {
      case ApplyFunctionExpression(function, arguments) if Functions.isOfConnector(function) =>
        Some(function -> arguments)
      case Invoke(Literal(function: ScalarFunction[_], _), _, _, arguments, _, _, _, _)
          if Functions.isOfConnector(function) =>
        Some(function -> arguments)
      case _ => None
    }
  }
}
