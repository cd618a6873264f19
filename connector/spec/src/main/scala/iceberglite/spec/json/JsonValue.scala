package iceberglite.spec.json

import java.io.IOException
import java.util.{Locale, UUID}

import com.fasterxml.jackson.core.{JsonFactory, JsonGenerator, JsonParser, JsonProcessingException}
import com.fasterxml.jackson.core.StreamReadConstraints

import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.json.JsonTree._
import iceberglite.spec.types.LiteralConversion

/** The position of a value in a document. The path is computed only for error messages. */
sealed abstract private[json] class JsonLocation {
  def path: String
}

/**
 * A value in a JSON document. A value that violates the specification is rejected with an [[InvalidMetadata]] that
 * names the file and the position. Whole numbers are exact. A key with the value null counts as absent, except in
 * [[entries]] and [[strings]]. Unknown keys are ignored.
 *
 * @param key the key, if the value is a member of an object; empty for other values
 * @param index the index, if the value is an element of an array; `Member` for a member of an object, and `Top` for the
 *   whole document
 */
final class JsonValue private (file: String, parent: JsonLocation, key: String, index: Int, node: JsonTree)
    extends JsonLocation {

  override def path: String = index match {
    case JsonValue.Top => parent.path
    case JsonValue.Member => parent.path + JsonValue.step(key)
    case _ => s"${parent.path}[$index]"
  }

  def fail(reason: String): Nothing = throw InvalidMetadata(file, path, reason)

  /** Returns the name of the document, for messages. */
  def source: String = file

  def int: Int = node match {
    case WholeNumber(value) if value.isValidInt => value.toInt
    case _ => unexpected("an int")
  }

  def long: Long = node match {
    case WholeNumber(value) => value
    case _ => unexpected("a long")
  }

  def double: Double = node match {
    case WholeNumber(value) => value.toDouble
    case Number(text) =>
      val value = text.toDouble
      if (value.isInfinite) unexpected("a number in the range of a double")
      value
    case _ => unexpected("a number")
  }

  def boolean: Boolean = node match {
    case Bool(value) => value
    case _ => unexpected("true or false")
  }

  def string: String = node match {
    case Text(value) => value
    case _ => unexpected("a string")
  }

  /** Returns the string in lower case. This method is used for keywords that are not case-sensitive. */
  private[json] def lowerCase: String = string.toLowerCase(Locale.ROOT)

  private[json] def uuid: UUID = LiteralConversion.uuid(string).getOrElse(fail(s"Not a UUID: $string"))

  /** Returns the value of a required key. */
  def apply(key: String): JsonValue = optional(key).getOrElse(missing(key))

  def optional(key: String): Option[JsonValue] = members.find(key).map(child(key, _))

  def has(key: String): Boolean = members.find(key).isDefined

  /**
   * Returns the same value as `json(key).int`. The methods that return a number or a string by its key are called
   * often. Therefore they create a `JsonValue` only for an error.
   */
  def int(key: String): Int = member(key) match {
    case WholeNumber(value) if value.isValidInt => value.toInt
    case other => child(key, other).int
  }

  def long(key: String): Long = member(key) match {
    case WholeNumber(value) => value
    case other => child(key, other).long
  }

  def string(key: String): String = member(key) match {
    case Text(value) => value
    case other => child(key, other).string
  }

  def optionalInt(key: String): Option[Int] = if (has(key)) Some(int(key)) else None

  def optionalLong(key: String): Option[Long] = if (has(key)) Some(long(key)) else None

  /** Returns the value of a required key as a non-negative long. */
  private[json] def count(key: String): Long = {
    val value = long(key)
    if (value < 0) apply(key).fail(s"It must be 0 or more, but is $value")
    value
  }

  private[json] def optionalCount(key: String): Option[Long] = if (has(key)) Some(count(key)) else None

  def optionalString(key: String): Option[String] = if (has(key)) Some(string(key)) else None

  /** Returns the elements of an array. */
  def elements: Vector[JsonValue] = map(identity)

  /** Converts each element of an array. */
  def map[A](read: JsonValue => A): Vector[A] = {
    val values = node match {
      case Elements(values) => values
      case _ => unexpected("an array")
    }
    val result = Vector.newBuilder[A]
    var i = 0
    while (i < values.length) {
      result += read(new JsonValue(file, this, "", i, values(i)))
      i += 1
    }
    result.result()
  }

  /** Returns the entries of an object, in the order of the document. */
  def entries: Vector[(String, JsonValue)] = {
    val Members(keys, values) = members
    keys.indices.map(i => keys(i) -> child(keys(i), values(i))).toVector
  }

  /** Returns the elements of the array with the given key; empty if the key is absent. */
  def elementsOf(key: String): Vector[JsonValue] = mapOf(key)(identity)

  /** Converts each element of the array with the given key. The result is empty if the key is absent. */
  def mapOf[A](key: String)(read: JsonValue => A): Vector[A] = optional(key).fold(Vector.empty[A])(_.map(read))

  /** Returns the object of strings with the given key; empty if the key is absent. */
  def stringsOf(key: String): Map[String, String] = optional(key).fold(Map.empty[String, String])(_.strings)

  /** Returns an object of strings. */
  def strings: Map[String, String] = {
    val Members(keys, values) = members
    val texts = new Array[String](keys.length)
    var i = 0
    while (i < keys.length) {
      texts(i) = values(i) match {
        case Text(value) => value
        case other => child(keys(i), other).string
      }
      i += 1
    }
    StringMap(keys, texts)
  }

  /** Checks that no two of the values are equal. The error refers to the position of this JSON value. */
  private[json] def requireUnique[A](values: Vector[A])(reason: A => String): Unit = {
    val seen = new java.util.HashSet[A]
    values.find(value => !seen.add(value)).foreach(value => fail(reason(value)))
  }

  def isText: Boolean = node.isInstanceOf[Text]

  def isObject: Boolean = node.isInstanceOf[Members]

  def isArray: Boolean = node.isInstanceOf[Elements]

  def isBoolean: Boolean = node.isInstanceOf[Bool]

  /** Whether the value is a number without fraction that fits into a long. */
  def isInteger: Boolean = node.isInstanceOf[WholeNumber]

  /**
   * Whether the value is null. Only the whole document, an element of an array, or a value that [[entries]] returns can
   * be null. Methods with a key as a parameter treat a key whose value is null as absent.
   */
  def isNull: Boolean = node eq Null

  /** Returns the value as JSON. */
  def json: String = JsonFormat.text(write)

  private[json] def write(out: JsonGenerator): Unit = JsonTree.write(node, out)

  private def members: Members = node match {
    case members: Members => members
    case _ => unexpected("an object")
  }

  private def member(key: String): JsonTree = {
    val all = members
    val index = all.indexOf(key)
    if (index < 0 || (all.values(index) eq Null)) missing(key) else all.values(index)
  }

  private def missing(key: String): Nothing = fail(s"The key $key is missing")

  private def child(key: String, node: JsonTree): JsonValue = new JsonValue(file, this, key, JsonValue.Member, node)

  private def unexpected(expected: String): Nothing = fail(s"Expected $expected, found ${node.show}")
}

object JsonValue {
  final private val Member = -1

  /** The `index` of a value that is the whole document. */
  final private val Top = -2

  /**
   * The maximum nesting depth of a document. Types and expressions are read recursively. Therefore a document of this
   * depth must be readable with a small thread stack.
   */
  private val MaxDepth = 400

  /**
   * Creates parsers that do not limit the length of strings. The specification does not limit the length of locations,
   * properties and defaults, and the document is already in memory.
   */
  private val factory: JsonFactory = new JsonFactory().setStreamReadConstraints(
    StreamReadConstraints.builder().maxStringLength(Int.MaxValue).maxNestingDepth(MaxDepth).build()
  )

  private object Root extends JsonLocation {
    override def path: String = "$"
  }

  /** Parses a document. @param file the name of the document, for messages */
  def parse(file: String, json: Array[Byte]): JsonValue = parseWith(file, factory.createParser(json))

  def parse(file: String, json: String): JsonValue = parseWith(file, factory.createParser(json))

  private def parseWith(file: String, open: => JsonParser): JsonValue = {
    def fail(reason: String, cause: Option[Throwable]): Nothing = throw InvalidMetadata(file, Root.path, reason, cause)
    val node =
      try {
        val parser = open
        try JsonTreeReader.read(parser, fail(_, None))
        finally parser.close()
      } catch {
        case e: JsonProcessingException =>
          val position = Option(e.getLocation).fold("")(l => s" at line ${l.getLineNr}, column ${l.getColumnNr}")
          fail(s"It is not valid JSON, or it is truncated: ${e.getOriginalMessage}$position", Some(e))
        case e: IOException => fail(s"It is not valid JSON: ${e.getMessage}", Some(e))
      }
    new JsonValue(file, Root, "", Top, node.getOrElse(fail("It is empty", None)))
  }

  private def step(key: String): String =
    if (key.isEmpty) "['']"
    else if (key.forall(c => c.isLetterOrDigit || c == '-' || c == '_')) s".$key"
    else s"['$key']"
}
