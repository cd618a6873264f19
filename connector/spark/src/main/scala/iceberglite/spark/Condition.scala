package iceberglite.spark

import scala.language.implicitConversions

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.functions.expr

/** A condition on rows: a boolean column, or SQL text. */
final class Condition private (private[iceberglite] val expression: Expression)

object Condition {
  implicit def ofColumn(column: Column): Condition = new Condition(column.expr)
  implicit def ofText(sql: String): Condition = new Condition(expr(sql).expr)
}
