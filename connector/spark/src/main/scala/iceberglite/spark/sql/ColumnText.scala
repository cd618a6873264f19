package iceberglite.spark.sql

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{And, Expression, In, IsNull, LambdaFunction, Literal, PrettyAttribute}
import org.apache.spark.sql.types.{BooleanType, NullType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * Columns as SQL, which the Python package embeds in statements. Spark's own text of some expressions is not valid SQL,
 * or has another meaning in a statement.
 */
private[iceberglite] object ColumnText {

  /** Returns SQL that Spark's parser converts to the same expression. */
  def of(column: Column): String = of(column.expr)

  private def of(expression: Expression): String = expression.transformDown {
    case LambdaFunction(body, arguments, _) =>
      // The parser rejects a single argument in parentheses.
      val names = if (arguments.size == 1) arguments.head.sql else arguments.map(_.sql).mkString("(", ", ", ")")
      PrettyAttribute(s"$names -> ${of(body)}", NullType)
    // Spark's parser rejects an empty list. As in Spark, the result is null for a null.
    case In(value, Seq()) => And(IsNull(value), Literal(null, BooleanType))
    // Spark replaces `${name}` in the text of a statement by the value of a setting, also within constants.
    case constant @ Literal(text: UTF8String, StringType) if text.toString.contains(Variable) =>
      PrettyAttribute(constant.sql.replace(Variable, "\\u0024{"), StringType)
  }.sql

  private val Variable = "${"
}
