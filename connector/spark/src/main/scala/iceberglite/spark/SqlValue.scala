package iceberglite.spark

import scala.annotation.implicitNotFound

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.functions.expr

/** Type class of the values that a statement can assign to columns: `Column`, or `String` for SQL text. */
@implicitNotFound("The values must be columns or SQL texts, all of the same type, not ${V}")
sealed abstract class SqlValue[V] {
  private[iceberglite] def expression(value: V): Expression
}

object SqlValue {
  implicit val ofColumn: SqlValue[Column] = new SqlValue[Column] {
    override private[iceberglite] def expression(value: Column): Expression = value.expr
  }
  implicit val ofText: SqlValue[String] = new SqlValue[String] {
    override private[iceberglite] def expression(value: String): Expression = expr(value).expr
  }
}
