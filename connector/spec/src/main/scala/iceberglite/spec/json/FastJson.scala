package iceberglite.spec.json

import java.util.Arrays

import scala.util.control.ControlThrowable

import iceberglite.spec.json.FastJson.NotPlain

/**
 * Goes over the bytes of a document that is as writers make it: printable ASCII, nothing escaped, whole numbers. Where it
 * is anything else, well-formed or not, it gives up with [[NotPlain]], and the parser that knows all of JSON says what it
 * is.
 */
final private[json] class FastJson(val bytes: Array[Byte], start: Int = 0) {
  private var at = start

  /** Whether blanks stood between the tokens, since this was last set. */
  var spaced = false

  def position: Int = at

  def skipBlanks(): Unit = while (at < bytes.length && isBlank(bytes(at))) {
    spaced = true
    at += 1
  }

  private def isBlank(b: Byte): Boolean = b == ' ' || b == '\n' || b == '\r' || b == '\t'

  /** The next token's first byte. */
  def peek(): Byte = {
    skipBlanks()
    if (at >= bytes.length) throw NotPlain
    bytes(at)
  }

  def expect(token: Char): Unit = {
    if (peek() != token) throw NotPlain
    at += 1
  }

  /** Goes over a comma, or over the end. @return whether it was a comma */
  def more(end: Char): Boolean = {
    val token = peek()
    if (token != ',' && token != end) throw NotPlain
    at += 1
    token == ','
  }

  /** Goes over an empty array or object that has just been opened. @return whether it was one */
  def isClosed(end: Char): Boolean = {
    val closed = peek() == end
    if (closed) at += 1
    closed
  }

  /** Goes over a string. @return where its text begins; it ends before the byte before [[position]] */
  def string(): Int = {
    expect('"')
    val start = at
    while (at < bytes.length && FastJson.inStrings(bytes(at) & 0xff)) at += 1
    if (at >= bytes.length || bytes(at) != '"') throw NotPlain
    at += 1
    start
  }

  /** The text of the string that begins at `start` and was just gone over. */
  def text(start: Int): String = FastJson.text(bytes, start, at - 1)

  def isText(start: Int, known: Array[Byte]): Boolean =
    Arrays.equals(bytes, start, at - 1, known, 0, known.length)

  /** A long without fraction and exponent. */
  def whole(): Long = {
    val negative = peek() == '-'
    if (negative) at += 1
    val start = at
    var value = 0L
    while (at < bytes.length && bytes(at) >= '0' && bytes(at) <= '9') {
      value = value * 10 + (bytes(at) - '0')
      at += 1
    }
    val digits = at - start
    // With as many digits as the greatest long has, what is greater comes out negative.
    if (digits == 0 || digits > FastJson.MostDigits || value < 0) throw NotPlain
    if (digits > 1 && bytes(start) == '0') throw NotPlain
    if (at >= bytes.length || !FastJson.endsNumbers(bytes(at) & 0xff)) throw NotPlain
    if (negative) -value else value
  }

  /** Goes over any value, without a look at what is in it. */
  def skipValue(): Unit = {
    var depth = 0
    do {
      peek() match {
        case '"' => skipString()
        case '{' | '[' => depth += 1; at += 1
        case '}' | ']' => depth -= 1; at += 1
        case _ => at += 1
      }
      if (depth < 0) throw NotPlain
    } while (depth > 0 || !endsHere)
  }

  /** After a value, and not within a number or a word. */
  private def endsHere: Boolean = {
    val token = peek()
    token == ',' || token == '}' || token == ']'
  }

  /** Escapes and letters beyond ASCII are fine in what nobody looks at. */
  private def skipString(): Unit = {
    at += 1
    while (at < bytes.length && bytes(at) != '"') at += (if (bytes(at) == '\\') 2 else 1)
    if (at >= bytes.length) throw NotPlain
    at += 1
  }
}

private[json] object FastJson {

  /** The document is not of the plain kind; no failure. */
  object NotPlain extends ControlThrowable

  /** Of the greatest long. */
  private val MostDigits = 19

  private val inStrings: Array[Boolean] = Array.tabulate(256)(b => b >= ' ' && b < 0x7f && b != '"' && b != '\\')

  private val endsNumbers: Array[Boolean] = Array.tabulate(256)(b => ",}] \n\r\t".indexOf(b) >= 0)

  def text(bytes: Array[Byte], from: Int, until: Int): String =
    new String(bytes, from, until - from, java.nio.charset.StandardCharsets.ISO_8859_1)
}
