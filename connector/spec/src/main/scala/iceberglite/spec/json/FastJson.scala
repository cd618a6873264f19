package iceberglite.spec.json

import java.util.Arrays

import scala.util.control.ControlThrowable

import iceberglite.spec.json.FastJson.UnsupportedJson

/**
 * Scans the bytes of a document in the usual form that writers produce: printable ASCII, no escapes, integers. On
 * anything else, well-formed or not, it stops with [[UnsupportedJson]]; the complete JSON parser then reads the
 * document or reports the error.
 */
final private[json] class FastJson(val bytes: Array[Byte], start: Int = 0) {
  private var at = start

  /** Whether there was whitespace between tokens since this was last reset. */
  var sawWhitespace = false

  def position: Int = at

  def skipWhitespace(): Unit = while (at < bytes.length && isWhitespace(bytes(at))) {
    sawWhitespace = true
    at += 1
  }

  private def isWhitespace(b: Byte): Boolean = b == ' ' || b == '\n' || b == '\r' || b == '\t'

  /** Returns the first byte of the next token. */
  def peek(): Byte = {
    skipWhitespace()
    if (at >= bytes.length) throw UnsupportedJson
    bytes(at)
  }

  def expect(token: Char): Unit = {
    if (peek() != token) throw UnsupportedJson
    at += 1
  }

  /** Skips a comma or the closing bracket `end`. @return whether the skipped character was a comma */
  def skipSeparator(end: Char): Boolean = {
    val token = peek()
    if (token != ',' && token != end) throw UnsupportedJson
    at += 1
    token == ','
  }

  /**
   * Skips the closing bracket of an array or object that was just opened, if it is empty. @return whether it is empty
   */
  def skipIfEmpty(end: Char): Boolean = {
    val closed = peek() == end
    if (closed) at += 1
    closed
  }

  /** Skips a string. @return the start of its text, which ends one byte before [[position]] */
  def string(): Int = {
    expect('"')
    val start = at
    while (at < bytes.length && FastJson.isStringByte(bytes(at) & 0xff)) at += 1
    if (at >= bytes.length || bytes(at) != '"') throw UnsupportedJson
    at += 1
    start
  }

  /** Returns the text of the string that begins at `start` and was just skipped. */
  def text(start: Int): String = FastJson.text(bytes, start, at - 1)

  def isText(start: Int, known: Array[Byte]): Boolean =
    Arrays.equals(bytes, start, at - 1, known, 0, known.length)

  /** Reads a long without fraction and exponent. */
  def readLong(): Long = {
    val negative = peek() == '-'
    if (negative) at += 1
    val start = at
    var value = 0L
    while (at < bytes.length && bytes(at) >= '0' && bytes(at) <= '9') {
      value = value * 10 + (bytes(at) - '0')
      at += 1
    }
    val digits = at - start
    // Numbers with 19 digits that exceed the maximum long overflow to negative values.
    if (digits == 0 || digits > FastJson.MaxDigits || value < 0) throw UnsupportedJson
    if (digits > 1 && bytes(start) == '0') throw UnsupportedJson
    if (at >= bytes.length || !FastJson.isNumberEnd(bytes(at) & 0xff)) throw UnsupportedJson
    if (negative) -value else value
  }

  /** Skips any value without checking its content. */
  def skipValue(): Unit = {
    var depth = 0
    do {
      peek() match {
        case '"' => skipString()
        case '{' | '[' => depth += 1; at += 1
        case '}' | ']' => depth -= 1; at += 1
        case _ => at += 1
      }
      if (depth < 0) throw UnsupportedJson
    } while (depth > 0 || !isAtValueEnd)
  }

  /** Returns whether a value ends here, and not within a number or a word. */
  private def isAtValueEnd: Boolean = {
    val token = peek()
    token == ',' || token == '}' || token == ']'
  }

  /** Skips a string. Escapes and non-ASCII characters are allowed in values that are not read. */
  private def skipString(): Unit = {
    at += 1
    while (at < bytes.length && bytes(at) != '"') at += (if (bytes(at) == '\\') 2 else 1)
    if (at >= bytes.length) throw UnsupportedJson
    at += 1
  }
}

private[json] object FastJson {

  /** The document is not in the usual form; this is not an error. */
  object UnsupportedJson extends ControlThrowable

  /** The number of digits of the maximum long. */
  private val MaxDigits = 19

  private val isStringByte: Array[Boolean] = Array.tabulate(256)(b => b >= ' ' && b < 0x7f && b != '"' && b != '\\')

  private val isNumberEnd: Array[Boolean] = Array.tabulate(256)(b => ",}] \n\r\t".indexOf(b) >= 0)

  def text(bytes: Array[Byte], from: Int, until: Int): String =
    new String(bytes, from, until - from, java.nio.charset.StandardCharsets.ISO_8859_1)
}
