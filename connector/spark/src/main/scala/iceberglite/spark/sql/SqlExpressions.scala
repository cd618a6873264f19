package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.expressions.{Alias, Expression}
import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}

/** Parses the expressions in the statements of the connector. */
final class SqlExpressions(parser: ParserInterface) {

  /**
   * Consumes an expression. The positions in errors of Spark's parser refer to the whole statement.
   *
   * @param expected description of the expected input for error messages, such as "a condition"
   * @param endsAt the first words of the clauses that may follow the expression
   */
  def read(reader: SqlReader, expected: String, endsAt: String*): Expression = {
    val text = reader.expression(expected, endsAt: _*)
    try parser.parseExpression(text)
    catch { case error: ParseException => throw error.withCommand(reader.sql) }
  }

  /** Consumes an expression that must not have an alias, such as a condition. */
  def readUnnamed(reader: SqlReader, expected: String, endsAt: String*): Expression =
    read(reader, expected, endsAt: _*) match {
      case _: Alias => reader.failAt(reader.last, s"expected $expected without an alias")
      case other => other
    }
}
