package iceberglite.spark.sql

/**
 * A token of a statement.
 *
 * @param text without quotes and escapes
 * @param start index of its first character in the statement
 * @param end index after its last character
 */
final case class SqlToken(kind: SqlToken.Kind, text: String, start: Int, end: Int) {
  def isWord(word: String): Boolean = kind == SqlToken.Word && text.equalsIgnoreCase(word)
  def isSymbol(symbol: String): Boolean = kind == SqlToken.Symbol && text == symbol
}

object SqlToken {
  sealed trait Kind

  /** A keyword or an identifier without backticks. */
  case object Word extends Kind

  /** An identifier in backticks. */
  case object Quoted extends Kind
  case object Number extends Kind
  case object Text extends Kind
  case object Symbol extends Kind

  /** The token at the end of the statement. */
  case object End extends Kind
}

/**
 * Splits a statement into tokens as Spark does: words of ASCII letters, digits and underscores, identifiers in
 * backticks, strings in either quotes with backslash escapes, `--` and nested bracketed comments. Every text is valid
 * input; an unknown character is a symbol of one character.
 */
object SqlTokens {

  /** Returns the first token at or after an index. */
  def next(sql: String, from: Int): SqlToken = {
    val at = skipBlank(sql, from)
    if (at >= sql.length) SqlToken(SqlToken.End, "end of input", sql.length, sql.length)
    else sql.charAt(at) match {
      case '`' => quoted(sql, at)
      case '\'' | '"' => text(sql, at)
      case c if isWordPart(c) =>
        val end = endOf(sql, at, isWordPart)
        val word = sql.substring(at, end)
        SqlToken(if (word.forall(_.isDigit)) SqlToken.Number else SqlToken.Word, word, at, end)
      case _ => SqlToken(SqlToken.Symbol, sql.substring(at, at + 1), at, at + 1)
    }
  }

  private def isWordPart(c: Char): Boolean =
    (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'

  private def endOf(sql: String, from: Int, part: Char => Boolean): Int = {
    var end = from
    while (end < sql.length && part(sql.charAt(end))) end += 1
    end
  }

  /**
   * Reads a quoted identifier. Two backticks inside mean one. A quote that is never closed is a symbol: the parser
   * reports its position.
   */
  private def quoted(sql: String, at: Int): SqlToken = {
    val name = new StringBuilder
    var i = at + 1
    while (i < sql.length && (sql.charAt(i) != '`' || sql.startsWith("``", i))) {
      if (sql.charAt(i) == '`') i += 1
      name += sql.charAt(i)
      i += 1
    }
    if (i >= sql.length) unclosed(sql, at) else SqlToken(SqlToken.Quoted, name.result(), at, i + 1)
  }

  private def text(sql: String, at: Int): SqlToken = {
    val quote = sql.charAt(at)
    val value = new StringBuilder
    var i = at + 1
    while (i < sql.length && sql.charAt(i) != quote) {
      if (sql.charAt(i) == '\\' && i + 1 < sql.length) i += 1
      value += sql.charAt(i)
      i += 1
    }
    if (i >= sql.length) unclosed(sql, at) else SqlToken(SqlToken.Text, value.result(), at, i + 1)
  }

  private def unclosed(sql: String, at: Int): SqlToken =
    SqlToken(SqlToken.Symbol, sql.substring(at, at + 1), at, sql.length)

  private def skipBlank(sql: String, from: Int): Int = {
    var at = from
    var before = -1
    while (at != before) {
      before = at
      at = endOf(sql, at, _.isWhitespace)
      if (sql.startsWith("--", at)) at = endOf(sql, at, c => c != '\n' && c != '\r')
      else if (sql.startsWith("/*", at)) at = afterComment(sql, at)
    }
    at
  }

  private def afterComment(sql: String, from: Int): Int = {
    var (at, depth) = (from + 2, 1)
    while (at < sql.length && depth > 0) {
      if (sql.startsWith("/*", at)) { depth += 1; at += 2 }
      else if (sql.startsWith("*/", at)) { depth -= 1; at += 2 }
      else at += 1
    }
    math.min(at, sql.length)
  }
}
