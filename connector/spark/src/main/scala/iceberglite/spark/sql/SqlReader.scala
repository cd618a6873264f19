package iceberglite.spark.sql

import scala.collection.mutable.ArrayBuffer
import scala.util.Try

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.{CurrentOrigin, Origin}

/**
 * Reads the tokens of one statement from left to right. Invalid input causes a ParseException with the position.
 *
 * @param sql the whole statement, for error messages
 */
final class SqlReader(val sql: String) {
  private val source = new SqlTokens(sql)
  private val tokens = ArrayBuffer.empty[SqlToken]
  private var position = 0

  private def token(index: Int): SqlToken = {
    while (tokens.size <= index) tokens += source.next()
    tokens(index)
  }

  def peek: SqlToken = token(position)

  /** Returns the token at a distance from the next token, without consuming it. */
  def ahead(distance: Int): SqlToken = token(position + distance)

  /** Returns the token that was consumed last. */
  def last: SqlToken = token(position - 1)

  /** Consumes the next token of any kind. At the end of the statement, each call returns the end token. */
  def take(): SqlToken = {
    position += 1
    token(position - 1)
  }

  /** Consumes the words if all of them are next; otherwise consumes nothing. */
  def skip(words: String*): Boolean = {
    val matches = isNext(words)
    if (matches) position += words.size
    matches
  }

  private def isNext(words: Seq[String]): Boolean =
    words.zipWithIndex.forall { case (word, i) => token(position + i).isWord(word) }

  def skipSymbol(symbol: String): Boolean = {
    val matches = peek.isSymbol(symbol)
    if (matches) position += 1
    matches
  }

  def expectSymbol(symbol: String): Unit = if (!skipSymbol(symbol)) fail(s"expected '$symbol'")

  def expectWord(word: String): Unit = if (!skip(word)) fail(s"expected $word")

  /**
   * Consumes an identifier.
   *
   * @param expected description of the expected input for error messages, such as "a column"
   */
  def identifier(expected: String): String = if (isIdentifier(peek)) take().text else fail(s"expected $expected")

  private def isIdentifier(token: SqlToken): Boolean = token.kind == SqlToken.Word || token.kind == SqlToken.Quoted

  def multipartIfAny(): Option[Vector[String]] = if (isIdentifier(peek)) Some(multipart("a name")) else None

  /** Consumes a multipart name: `a.b`; a part in backticks may contain dots. */
  def multipart(expected: String): Vector[String] = {
    val parts = Vector.newBuilder[String]
    parts += identifier(expected)
    while (skipSymbol(".")) parts += identifier("a part of the name after the dot")
    parts.result()
  }

  /** Consumes a whole number, if it is next. */
  def numberIfAny(): Option[Int] = wholeNumberIfAny(Int.MaxValue).map(_.toInt)

  /**
   * Consumes a whole number.
   *
   * @param expected description of the expected input for error messages, such as "a number of snapshots"
   */
  def number(expected: String): Int = numberIfAny().getOrElse(fail(s"expected $expected"))

  /**
   * Consumes a long.
   *
   * @param expected description of the expected input for error messages, such as "the id of a snapshot"
   */
  def long(expected: String): Long = wholeNumberIfAny(Long.MaxValue).getOrElse(fail(s"expected $expected"))

  private def wholeNumberIfAny(max: Long): Option[Long] = Some(peek).filter(_.kind == SqlToken.Number).map { token =>
    val value = Try(token.text.toLong).filter(_ <= max).getOrElse(fail(s"the number is too large, at most $max"))
    take()
    value
  }

  /** Consumes a text in quotes, if it is next. */
  def textIfAny(): Option[String] = if (peek.kind == SqlToken.Text) Some(take().text) else None

  /** Consumes `name =>` and returns the name, if it is next. */
  def namedIfAny(): Option[SqlToken] = {
    val name = peek
    val isNamed = isIdentifier(name) && token(position + 1).isSymbol("=>")
    if (isNamed) position += 2
    Some(name).filter(_ => isNamed)
  }

  /**
   * Consumes the text up to the next comma, semicolon, or closing parenthesis or bracket that belongs to the enclosing
   * text. The returned text begins with spaces in place of the preceding text of the statement, so that the parser of
   * the expression reports correct positions.
   *
   * @param endsAt words that also end the expression, outside of parentheses and brackets
   */
  def expression(expected: String, endsAt: String*): String = {
    val firstPosition = position
    var depth = 0
    while (peek.kind != SqlToken.End && (depth > 0 || !ends(peek) && (endsAt.isEmpty || !isNext(endsAt)))) {
      depth += (if (opens(peek)) 1 else if (closes(peek)) -1 else 0)
      position += 1
    }
    if (position == firstPosition) fail(s"expected $expected")
    val start = token(firstPosition).start
    sql.take(start).map(c => if (c == '\n') c else ' ') + sql.substring(start, token(position - 1).end)
  }

  /**
   * Consumes a text in parentheses, if it is next.
   *
   * @return whether such a text was next; false if the statement does not close its parenthesis
   */
  def skipParentheses(): Boolean = skipSymbol("(") && {
    var depth = 1
    while (depth > 0 && peek.kind != SqlToken.End) {
      depth += (if (peek.isSymbol("(")) 1 else if (peek.isSymbol(")")) -1 else 0)
      position += 1
    }
    depth == 0
  }

  private def opens(token: SqlToken): Boolean = Seq("(", "[").exists(token.isSymbol)
  private def closes(token: SqlToken): Boolean = Seq(")", "]").exists(token.isSymbol)
  private def ends(token: SqlToken): Boolean = closes(token) || Seq(",", ";").exists(token.isSymbol)

  /** Returns the text from an earlier token to the last consumed token. */
  def textSince(first: SqlToken): String = sql.substring(first.start, last.end)

  /** Creates a plan node whose origin is the text from an earlier token to the last consumed token. */
  def node[A](first: SqlToken)(create: => A): A = CurrentOrigin.withOrigin(originSince(first))(create)

  /** Creates a plan node whose origin is the text from the next token to the end of the statement. */
  def nodeToEnd[A](create: => A): A = {
    val end = sql.reverseIterator.indexWhere(c => c != ';' && !c.isWhitespace)
    CurrentOrigin.withOrigin(origin(peek.start, math.max(peek.end, sql.length - end)))(create)
  }

  /** Returns the position of the text from an earlier token to the last consumed token. */
  def originSince(first: SqlToken): Origin = origin(first.start, last.end)

  /** Checks that the statement has ended, except for semicolons. */
  def end(): Unit = {
    while (skipSymbol(";")) ()
    if (peek.kind != SqlToken.End) fail("expected the end of the statement")
  }

  /** Throws a syntax error at the next token. */
  def fail(problem: String): Nothing = failAt(peek, problem)

  /** Throws a syntax error at a token. */
  def failAt(token: SqlToken, problem: String): Nothing =
    failAt(token, problem, SqlErrorClass.syntax(near(token), problem))

  /** Throws a syntax error at a token. @param errorClass Spark's error class */
  def failAt(token: SqlToken, problem: String, errorClass: SqlErrorClass): Nothing = {
    val message = s"[${errorClass.name}] Syntax error at or near ${near(token)}: $problem."
    val (start, stop) = (origin(token.start, token.end), origin(token.end, token.end))
    throw new ParseException(
      Some(sql),
      message,
      start,
      stop,
      Some(errorClass.name),
      errorClass.parameters,
      start.getQueryContext
    )
  }

  private def near(token: SqlToken): String =
    if (token.kind == SqlToken.End) token.text else s"'${sql.substring(token.start, token.end)}'"

  /**
   * Returns the position of a text: lines count from 1, characters in a line from 0, as in Spark's own errors.
   *
   * @param start index of the first character in the statement
   * @param end index after the last character
   */
  private def origin(start: Int, end: Int): Origin = {
    val before = sql.substring(0, start)
    val line = before.count(_ == '\n') + 1
    val column = start - (before.lastIndexOf('\n') + 1)
    Origin(Some(line), Some(column), Some(start), Some(math.max(start, end - 1)), sqlText = Some(sql))
  }
}
