package iceberglite.spark.sql

import scala.collection.mutable.ArrayBuffer
import scala.util.Try

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.Origin

/**
 * Reads the tokens of one statement from left to right. What does not fit is a ParseException that points at it.
 *
 * @param sql the whole statement, which errors show
 */
final class SqlReader(val sql: String) {
  // Cut one by one: most statements are not ours, which their first word tells, and may be megabytes of VALUES.
  private val tokens = ArrayBuffer.empty[SqlToken]
  private var at = 0

  private def token(index: Int): SqlToken = {
    while (tokens.size <= index) tokens += SqlTokens.next(sql, tokens.lastOption.fold(0)(_.end))
    tokens(index)
  }

  def peek: SqlToken = token(at)

  /** What comes so many tokens after the next one; nothing is taken. */
  def ahead(tokens: Int): SqlToken = token(at + tokens)

  /** Takes the next token, whatever it is; at the end of the statement it is its end again and again. */
  def take(): SqlToken = {
    at += 1
    token(at - 1)
  }

  /** Takes the words if all of them come next; else nothing is taken. */
  def skip(words: String*): Boolean = {
    val fits = words.zipWithIndex.forall { case (word, i) => token(at + i).isWord(word) }
    if (fits) at += words.size
    fits
  }

  def skipSymbol(symbol: String): Boolean = {
    val fits = peek.isSymbol(symbol)
    if (fits) at += 1
    fits
  }

  def expectSymbol(symbol: String): Unit = if (!skipSymbol(symbol)) fail(s"expected '$symbol'")

  def expectWord(word: String): Unit = if (!skip(word)) fail(s"expected $word")

  /** @param what for messages: "a column" */
  def identifier(what: String): String = if (isIdentifier(peek)) take().text else fail(s"expected $what")

  private def isIdentifier(token: SqlToken): Boolean = token.kind == SqlToken.Word || token.kind == SqlToken.Quoted

  def multipartIfAny(): Option[Vector[String]] = if (isIdentifier(peek)) Some(multipart("a name")) else None

  /** A name of several parts: `a.b`, where a part in backticks may hold dots. */
  def multipart(what: String): Vector[String] = {
    val parts = Vector.newBuilder[String]
    parts += identifier(what)
    while (skipSymbol(".")) parts += identifier("a part of the name after the dot")
    parts.result()
  }

  /** A whole number, if one comes next. */
  def numberIfAny(): Option[Int] = wholeIfAny(Int.MaxValue).map(_.toInt)

  /** A whole number. @param what for messages: "a number of snapshots" */
  def number(what: String): Int = numberIfAny().getOrElse(fail(s"expected $what"))

  /** @param what for messages: "the id of a snapshot" */
  def long(what: String): Long = wholeIfAny(Long.MaxValue).getOrElse(fail(s"expected $what"))

  private def wholeIfAny(most: Long): Option[Long] = Some(peek).filter(_.kind == SqlToken.Number).map { token =>
    val value = Try(token.text.toLong).filter(_ <= most).getOrElse(fail(s"the number is too large, at most $most"))
    take()
    value
  }

  /** The name of `name =>`, which is taken, if it comes next. */
  def namedIfAny(): Option[SqlToken] = {
    val (name, equals, greater) = (peek, token(at + 1), token(at + 2))
    val named = isIdentifier(name) && equals.isSymbol("=") && greater.isSymbol(">") && equals.end == greater.start
    if (named) at += 3
    Some(name).filter(_ => named)
  }

  /**
   * The text up to the next comma or closing parenthesis that is not inside of parentheses or brackets. What stands
   * before it in the statement is blank, so that who reads it finds everything at its place.
   */
  def expression(what: String): String = {
    val first = at
    var depth = 0
    while (peek.kind != SqlToken.End && (depth > 0 || !ends(peek))) {
      depth += (if (opens(peek)) 1 else if (closes(peek)) -1 else 0)
      at += 1
    }
    if (at == first) fail(s"expected $what")
    val start = token(first).start
    sql.take(start).map(c => if (c == '\n') c else ' ') + sql.substring(start, token(at - 1).end)
  }

  /** Takes a parenthesis and all up to the one that closes it. @return whether one came next and is closed */
  def skipParentheses(): Boolean = skipSymbol("(") && {
    var depth = 1
    while (depth > 0 && peek.kind != SqlToken.End) {
      depth += (if (peek.isSymbol("(")) 1 else if (peek.isSymbol(")")) -1 else 0)
      at += 1
    }
    depth == 0
  }

  private def opens(token: SqlToken): Boolean = Seq("(", "[").exists(token.isSymbol)
  private def closes(token: SqlToken): Boolean = Seq(")", "]").exists(token.isSymbol)
  private def ends(token: SqlToken): Boolean = closes(token) || Seq(",", ";").exists(token.isSymbol)

  /** The statement is over, but for semicolons. */
  def end(): Unit = {
    while (skipSymbol(";")) ()
    if (peek.kind != SqlToken.End) fail("expected the end of the statement")
  }

  /** Refuses the statement at the next token. */
  def fail(problem: String): Nothing = failAt(peek, problem)

  /** Refuses the statement at a token that was read before. */
  def failAt(token: SqlToken, problem: String): Nothing = {
    val near = if (token.kind == SqlToken.End) token.text else s"'${sql.substring(token.start, token.end)}'"
    val message = s"Syntax error at or near $near: $problem."
    throw new ParseException(Some(sql), message, origin(token.start), origin(token.end))
  }

  /** Lines count from 1, characters in a line from 0, as in Spark's own errors. */
  private def origin(index: Int): Origin = {
    val before = sql.substring(0, index)
    val line = before.count(_ == '\n') + 1
    Origin(Some(line), Some(index - (before.lastIndexOf('\n') + 1)), sqlText = Some(sql))
  }
}
