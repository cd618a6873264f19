package iceberglite.data

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.StandardCharsets.UTF_8
import java.util.HashSet

import com.fasterxml.jackson.core.{
  JsonFactory,
  JsonFactoryBuilder,
  JsonParser,
  JsonProcessingException,
  JsonToken,
  StreamReadConstraints
}

import iceberglite.spec.IcebergError.InvalidArgument

/**
 * Parses JSON text into variants. Numbers are stored as Spark 4 does: an integer that fits in a long as an integer,
 * another number without exponent and with at most 38 digits as a decimal, and any other number as a double.
 */
private[iceberglite] object VariantParser {

  /**
   * Parses one JSON value.
   *
   * @param json the text in UTF-8
   * @throws InvalidArgument if the text is not JSON (RFC 8259), if an object has two fields with the same name, if a
   *   number is outside the range of doubles, or if the value is nested too deeply or too large; the reason contains
   *   the position
   */
  def parse(json: ByteBuffer): VariantNode = {
    if (json.remaining > MaxText) fail(json, s"It has ${json.remaining} bytes, but only $MaxText are supported")
    val characters =
      try UTF_8.newDecoder().decode(json.duplicate())
      catch { case _: CharacterCodingException => fail(json, "It must be in UTF-8") }
    val parser = factory.createParser(characters.array, characters.arrayOffset, characters.remaining)
    try new VariantParser(parser, (reason, at) => fail(json, s"$reason ${position(at + 1)}")).value()
    catch {
      case e: JsonProcessingException =>
        val at = Option(e.getLocation).fold(0L)(_.getCharOffset)
        fail(json, s"It must be JSON: ${firstLine(e.getOriginalMessage)} ${position(at)}")
    } finally parser.close()
  }

  /** @param number the number of a character, counted from 1; 0 if the text has no characters */
  private def position(number: Long): String = s"(at character ${math.max(number, 1L)})"

  private def firstLine(message: String): String = message.takeWhile(_ != '\n')

  private def fail(json: ByteBuffer, reason: String): Nothing = {
    val shown = json.duplicate()
    shown.limit(shown.position() + math.min(json.remaining, ShownBytes))
    val text = UTF_8.decode(shown).toString
    throw InvalidArgument("variant", if (json.remaining > ShownBytes) s"$text..." else text, reason)
  }

  /**
   * The maximum size of a text in bytes. It limits the memory of the parser: a longer text is unlikely to result in a
   * variant of at most [[VariantEncoding.MaxSize]] bytes.
   */
  private val MaxText = 64 << 20

  /** The number of bytes of an invalid text that its error contains. */
  private val ShownBytes = 100

  /** Creates parsers that do not keep the names of fields in a table that all parsers of the process share. */
  private val factory: JsonFactory = {
    // The limit of the depth is one more than that of this parser, whose error is clearer.
    val limits =
      StreamReadConstraints.builder().maxStringLength(Int.MaxValue).maxNestingDepth(VariantValues.MaxDepth + 2).build()
    new JsonFactoryBuilder().streamReadConstraints(limits).disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
      .disable(JsonFactory.Feature.INTERN_FIELD_NAMES).build()
  }
}

/** @param failAt throws the error for a reason and the index of a character */
final private class VariantParser(parser: JsonParser, failAt: (String, Long) => Nothing) {

  /** The minimum size of the values that were read so far. */
  private var size = 0L

  /** The names of all objects. A variant contains each name once. */
  private val allNames = new HashSet[String]

  def value(): VariantNode = {
    if (parser.nextToken() == null) fail("It must be a JSON value, but it is empty")
    val result = current(0)
    if (parser.nextToken() != null) fail("It must be one JSON value, but another value follows")
    result
  }

  /** Returns the value that begins with the current token. */
  private def current(depth: Int): VariantNode = {
    if (depth > VariantValues.MaxDepth) fail(s"It is nested more than ${VariantValues.MaxDepth} levels deep")
    add(1)
    parser.currentToken match {
      case JsonToken.START_OBJECT => fields(depth)
      case JsonToken.START_ARRAY => elements(depth)
      case JsonToken.VALUE_STRING =>
        val string = text()
        add(string.length)
        VariantNode.ofString(string)
      case JsonToken.VALUE_NUMBER_INT => integer()
      case JsonToken.VALUE_NUMBER_FLOAT => decimalOrDouble()
      case JsonToken.VALUE_TRUE => VariantNode.ofBoolean(true)
      case JsonToken.VALUE_FALSE => VariantNode.ofBoolean(false)
      case JsonToken.VALUE_NULL => VariantNode.Null
      case other => fail(s"It must be JSON, but it contains $other")
    }
  }

  private def fields(depth: Int): VariantNode = {
    // This set is fast even if the hash codes of all names are equal.
    val names = new HashSet[String]
    val result = Vector.newBuilder[(String, VariantNode)]
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      val name = text()
      if (allNames.add(name)) add(name.length)
      if (!names.add(name)) fail(s"An object has several fields with the name ${shown(name)}")
      parser.nextToken()
      result += name -> current(depth + 1)
      add(minOffsetWidth(names.size))
    }
    VariantNode.Fields(result.result())
  }

  private def elements(depth: Int): VariantNode = {
    val result = Vector.newBuilder[VariantNode]
    var count = 0
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      result += current(depth + 1)
      count += 1
      add(minOffsetWidth(count))
    }
    VariantNode.Elements(result.result())
  }

  /** Returns the minimum width of the offsets in a container, in which each value has at least one byte. */
  private def minOffsetWidth(values: Int): Int = if (values <= 0xff) 1 else if (values <= 0xffff) 2 else 3

  /** Returns the text of the current string or name. An unpaired surrogate cannot be encoded in UTF-8. */
  private def text(): String = {
    val text = parser.getText
    var i = 0
    while (i < text.length) {
      if (Character.isSurrogate(text.charAt(i))) {
        if (i + 1 == text.length || !Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1)))
          fail("A string has an unpaired surrogate")
        i += 1
      }
      i += 1
    }
    text
  }

  private def integer(): VariantNode = parser.getNumberType match {
    case JsonParser.NumberType.INT | JsonParser.NumberType.LONG => VariantNode.ofLong(parser.getLongValue)
    case _ => decimalOrDouble()
  }

  private def decimalOrDouble(): VariantNode = {
    val number = parser.getText
    val decimal = if (number.exists(c => c == 'e' || c == 'E')) None else VariantNode.ofDecimal(new BigDecimal(number))
    decimal.getOrElse {
      val double = number.toDouble
      if (double.isInfinite) fail(s"The number ${shown(number)} is too large")
      VariantNode.ofDouble(double)
    }
  }

  private def shown(text: String): String = if (text.length > VariantParser.ShownBytes) s"${text.take(40)}..." else text

  private def add(bytes: Int): Unit = {
    size += bytes
    if (size > VariantEncoding.MaxSize) fail(s"It has more than ${VariantEncoding.MaxSize} bytes as a variant")
  }

  private def fail(reason: String): Nothing = failAt(reason, parser.getTokenLocation.getCharOffset)
}
