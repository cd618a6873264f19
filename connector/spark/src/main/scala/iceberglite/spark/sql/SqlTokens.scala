package iceberglite.spark.sql

import org.antlr.v4.runtime.{CharStreams, Token}
import org.apache.spark.sql.catalyst.parser.{ParserUtils, SqlBaseLexer}
import org.apache.spark.sql.internal.SQLConf

/**
 * A token of a statement.
 *
 * @param text the text of the token, without quotes and escapes
 * @param start index of the token's first character in the statement
 * @param end index after the token's last character
 */
final case class SqlToken(kind: SqlToken.Kind, text: String, start: Int, end: Int) {
  def isWord(word: String): Boolean = kind == SqlToken.Word && text.equalsIgnoreCase(word)
  def isSymbol(symbol: String): Boolean = kind == SqlToken.Symbol && text == symbol
}

object SqlToken {
  sealed trait Kind

  /** A keyword, an identifier without backticks, or a number with letters, such as `1L`. */
  case object Word extends Kind

  /** A quoted identifier. */
  case object Quoted extends Kind

  /** An integer without a sign. */
  case object Number extends Kind
  case object Text extends Kind

  /** An operator, a bracket, a number with a point, or a character that is not valid in SQL. */
  case object Symbol extends Kind

  /** The token at the end of the statement. */
  case object End extends Kind
}

/**
 * The tokens of a statement as Spark's lexer splits it, without white space and comments. Tokens are read on demand,
 * because the first words usually show that a statement does not belong to the connector, and the statement may have
 * megabytes of VALUES.
 */
final private[sql] class SqlTokens(sql: String) {
  private val lexer = {
    // The text is converted to upper case, because keywords are upper case in Spark's grammar. The text of a token
    // comes from the original statement.
    val lexer = new SqlBaseLexer(CharStreams.fromString(sql.map(SqlTokens.upper)))
    lexer.removeErrorListeners()
    lexer
  }
  private var position = 0
  private var codePoints = 0

  /** Returns the next token. At the end of the statement, each call returns the end token. */
  def next(): SqlToken = {
    val token = lexer.nextToken()
    if (token.getType == Token.EOF) SqlToken(SqlToken.End, "end of input", sql.length, sql.length)
    else if (token.getChannel != Token.DEFAULT_CHANNEL) next()
    else {
      val start = charIndex(token.getStartIndex)
      val end = charIndex(token.getStopIndex + 1)
      val text = sql.substring(start, end)
      val kind = SqlTokens.kindOf(token.getType, text)
      SqlToken(kind, SqlTokens.valueOf(kind, text), start, end)
    }
  }

  /**
   * Converts an index of the lexer, which counts code points, to an index in `sql`, which counts UTF-16 code units. The
   * argument must not be lower than in the previous call.
   */
  private def charIndex(codePoint: Int): Int = {
    position = sql.offsetByCodePoints(position, codePoint - codePoints)
    codePoints = codePoint
    position
  }
}

private object SqlTokens {
  private def upper(c: Char): Char = if (c >= 'a' && c <= 'z') (c - 'a' + 'A').toChar else c

  private def isWordPart(c: Char): Boolean = upper(c) >= 'A' && upper(c) <= 'Z' || c >= '0' && c <= '9' || c == '_'

  private def kindOf(tokenType: Int, text: String): SqlToken.Kind = tokenType match {
    case SqlBaseLexer.BACKQUOTED_IDENTIFIER => SqlToken.Quoted
    case SqlBaseLexer.DOUBLEQUOTED_STRING if SQLConf.get.doubleQuotedIdentifiers => SqlToken.Quoted
    case SqlBaseLexer.STRING_LITERAL | SqlBaseLexer.DOUBLEQUOTED_STRING => SqlToken.Text
    case SqlBaseLexer.INTEGER_VALUE => SqlToken.Number
    case _ => if (text.forall(isWordPart)) SqlToken.Word else SqlToken.Symbol
  }

  private def valueOf(kind: SqlToken.Kind, text: String): String = kind match {
    case SqlToken.Quoted =>
      val quote = text.take(1)
      text.substring(1, text.length - 1).replace(quote + quote, quote)
    case SqlToken.Text if SQLConf.get.escapedStringLiterals => text.substring(1, text.length - 1)
    case SqlToken.Text => ParserUtils.unescapeSQLString(text)
    case _ => text
  }
}
