package iceberglite.spark

import scala.language.implicitConversions

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.functions.expr

/** What rows are held against: a column of truth values, or text of SQL. */
final class Condition private (private[spark] val expression: Expression)

object Condition {
  implicit def ofColumn(column: Column): Condition = new Condition(column.expr)
  implicit def ofText(sql: String): Condition = new Condition(expr(sql).expr)
}
