package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.parser.ParserUtils

import iceberglite.spark.conf.StatementOptions

/**
 * Parses `('key' = 'value', ...)`. Keys may also be names with dots. Values may also be numbers, true and false. The
 * equals sign is optional.
 */
private[sql] object OptionList {

  /** Parses the list, including its parentheses, at the position of the reader. */
  def read(reader: SqlReader): StatementOptions = {
    reader.expectSymbol("(")
    var options = Vector(option(reader))
    while (reader.skipSymbol(",")) options :+= option(reader)
    if (!reader.skipSymbol(")")) reader.fail("expected ',' or ')'")
    StatementOptions(options.toMap)
  }

  private def option(reader: SqlReader): (String, String) = {
    val key =
      if (reader.peek.kind == SqlToken.Text) text(reader)
      else reader.multipart("the name of an option").mkString(".")
    reader.skipSymbol("=")
    key -> value(reader)
  }

  private def value(reader: SqlReader): String = reader.peek match {
    case token if token.kind == SqlToken.Text => text(reader)
    case token if token.kind == SqlToken.Number || token.isWord("true") || token.isWord("false") => reader.take().text
    case _ => reader.fail("expected the value of the option, such as '1'")
  }

  private def text(reader: SqlReader): String = {
    val token = reader.take()
    ParserUtils.unescapeSQLString(reader.sql.substring(token.start, token.end))
  }
}
