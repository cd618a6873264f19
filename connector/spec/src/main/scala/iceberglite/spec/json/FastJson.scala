package iceberglite.spec.json

import java.util.Arrays

import scala.util.control.ControlThrowable

import iceberglite.spec.json.FastJson.UnsupportedJson

/**
 * Scans the bytes of a JSON document in the form that writers usually produce: printable ASCII without escapes, and
 * only integers as numbers. For any other input, even if it is valid JSON, the scanner throws [[UnsupportedJson]]. The
 * caller then reads the document with the complete JSON parser, which also reports errors. Only values that the scanner
 * skips may have another form.
 */
final private[json] class FastJson(val bytes: Array[Byte], start: Int = 0) {
  private var offset = start

  /** Whether the scanner has skipped whitespace since the caller set this variable to false. */
  var sawWhitespace = false

  def position: Int = offset

  def skipWhitespace(): Unit = while (offset < bytes.length && isWhitespace(bytes(offset))) {
    sawWhitespace = true
    offset += 1
  }

  private def isWhitespace(b: Byte): Boolean = b == ' ' || b == '\n' || b == '\r' || b == '\t'

  /** Skips whitespace, and returns the first byte of the next token without skipping the byte. */
  def peek(): Byte = {
    skipWhitespace()
    if (offset >= bytes.length) throw UnsupportedJson
    bytes(offset)
  }

  def expect(token: Char): Unit = {
    if (peek() != token) throw UnsupportedJson
    offset += 1
  }

  /** Skips a comma or the closing bracket `end`. @return whether the skipped character was a comma */
  def skipSeparator(end: Char): Boolean = {
    val token = peek()
    if (token != ',' && token != end) throw UnsupportedJson
    offset += 1
    token == ','
  }

  /**
   * Skips the closing bracket of an array or object whose opening bracket was skipped last, if there is nothing between
   * the two brackets.
   *
   * @return whether the array or object is empty
   */
  def skipIfEmpty(end: Char): Boolean = {
    val closed = peek() == end
    if (closed) offset += 1
    closed
  }

  /**
   * Skips a string.
   *
   * @return the position at which the text of the string starts; the text ends one byte before [[position]]
   */
  def string(): Int = {
    expect('"')
    val start = offset
    while (offset < bytes.length && FastJson.isStringByte(bytes(offset) & 0xff)) offset += 1
    if (offset >= bytes.length || bytes(offset) != '"') throw UnsupportedJson
    offset += 1
    start
  }

  /** Returns the text of the string that was skipped last. @param start the result of [[string]] */
  def text(start: Int): String = FastJson.text(bytes, start, offset - 1)

  /** Whether the string that was skipped last has this text. @param start the result of [[string]] */
  def isText(start: Int, expected: Array[Byte]): Boolean =
    Arrays.equals(bytes, start, offset - 1, expected, 0, expected.length)

  /** Reads an integer that fits in a long. */
  def readLong(): Long = {
    val negative = peek() == '-'
    if (negative) offset += 1
    val start = offset
    var value = 0L
    while (offset < bytes.length && bytes(offset) >= '0' && bytes(offset) <= '9') {
      value = value * 10 + (bytes(offset) - '0')
      offset += 1
    }
    val digits = offset - start
    // A number with 19 digits that exceeds the maximum long has overflowed to a negative value.
    if (digits == 0 || digits > FastJson.MaxDigits || value < 0) throw UnsupportedJson
    if (digits > 1 && bytes(start) == '0') throw UnsupportedJson
    if (offset >= bytes.length || !FastJson.isNumberEnd(bytes(offset) & 0xff)) throw UnsupportedJson
    if (negative) -value else value
  }

  /** Skips any value without checking its content. */
  def skipValue(): Unit = {
    var depth = 0
    do {
      peek() match {
        case '"' => skipString()
        case '{' | '[' => depth += 1; offset += 1
        case '}' | ']' => depth -= 1; offset += 1
        case _ => offset += 1
      }
      if (depth < 0) throw UnsupportedJson
    } while (depth > 0 || !isAtValueEnd)
  }

  /**
   * Whether the next byte is a comma or a closing bracket, which end a value. Otherwise the scanner is within a number
   * or a word such as `true`.
   */
  private def isAtValueEnd: Boolean = {
    val token = peek()
    token == ',' || token == '}' || token == ']'
  }

  /**
   * Skips a string whose text is not needed. Unlike [[string]], this method supports escapes and non-ASCII characters.
   */
  private def skipString(): Unit = {
    offset += 1
    while (offset < bytes.length && bytes(offset) != '"') offset += (if (bytes(offset) == '\\') 2 else 1)
    if (offset >= bytes.length) throw UnsupportedJson
    offset += 1
  }
}

private[json] object FastJson {

  /**
   * Thrown if the scanner does not support the form of the document. This is not an error, because the complete JSON
   * parser then reads the document.
   */
  object UnsupportedJson extends ControlThrowable

  /** The number of digits of the maximum long. */
  private val MaxDigits = 19

  private val isStringByte: Array[Boolean] = Array.tabulate(256)(b => b >= ' ' && b < 0x7f && b != '"' && b != '\\')

  private val isNumberEnd: Array[Boolean] = Array.tabulate(256)(b => ",}] \n\r\t".indexOf(b) >= 0)

  def text(bytes: Array[Byte], from: Int, until: Int): String =
    new String(bytes, from, until - from, java.nio.charset.StandardCharsets.ISO_8859_1)
}
