package iceberglite.spec.json

import java.io.IOException

import scala.collection.JavaConverters._

import com.fasterxml.jackson.core.{JsonFactory, JsonProcessingException, StreamReadConstraints}
import com.fasterxml.jackson.databind.{DeserializationFeature, JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.json.JsonMapper

import iceberglite.spec.IcebergError.InvalidMetadata

/**
 * A place in a JSON document, read strictly: what is not as the spec has it is an [[InvalidMetadata]] that names the
 * file and the place. Numbers are exact; a key with the value null counts as absent, and keys nobody asks for are
 * ignored.
 */
final class JsonValue private (file: String, path: () => String, node: JsonNode) {

  def fail(reason: String): Nothing = throw InvalidMetadata(file, path(), reason)

  /** What the document is called in messages. */
  def source: String = file

  def int: Int = {
    if (!node.isIntegralNumber || !node.canConvertToInt) unexpected("an int")
    node.intValue
  }

  def long: Long = {
    if (!node.isIntegralNumber || !node.canConvertToLong) unexpected("a long")
    node.longValue
  }

  def double: Double = {
    if (!node.isNumber) unexpected("a number")
    node.doubleValue
  }

  def boolean: Boolean = {
    if (!node.isBoolean) unexpected("true or false")
    node.booleanValue
  }

  def string: String = {
    if (!node.isTextual) unexpected("a string")
    node.textValue
  }

  /** The value of a key that must be there. */
  def apply(key: String): JsonValue = optional(key).getOrElse(fail(s"The key $key is missing"))

  def optional(key: String): Option[JsonValue] = {
    if (!node.isObject) unexpected("an object")
    Option(node.get(key)).filterNot(_.isNull).map(child(key, _))
  }

  def has(key: String): Boolean = optional(key).isDefined

  /** The elements of an array. */
  def elements: Vector[JsonValue] = {
    if (!node.isArray) unexpected("an array")
    val elements = Vector.newBuilder[JsonValue]
    elements.sizeHint(node.size)
    var i = 0
    while (i < node.size) {
      val index = i
      elements += new JsonValue(file, () => s"${path()}[$index]", node.get(index))
      i += 1
    }
    elements.result()
  }

  /** The entries of an object, in their order. */
  def entries: Vector[(String, JsonValue)] = {
    if (!node.isObject) unexpected("an object")
    node.fields.asScala.map(e => e.getKey -> child(e.getKey, e.getValue)).toVector
  }

  /** The elements of an array that may be left out. */
  def elementsOf(key: String): Vector[JsonValue] = optional(key).fold(Vector.empty[JsonValue])(_.elements)

  /** An object of strings that may be left out. */
  def stringsOf(key: String): Map[String, String] =
    optional(key).fold(Map.empty[String, String])(_.entries.map { case (k, v) => k -> v.string }.toMap)

  def isText: Boolean = node.isTextual

  private def child(key: String, node: JsonNode): JsonValue = new JsonValue(file, () => path() + step(key), node)

  private def step(key: String): String =
    if (key.nonEmpty && key.forall(c => c.isLetterOrDigit || c == '-' || c == '_')) s".$key" else s"['$key']"

  private def unexpected(expected: String): Nothing = {
    val found = node.toString
    fail(s"Expected $expected, found ${if (found.length > 60) found.take(60) + "..." else found}")
  }
}

object JsonValue {

  /** Locations, properties and defaults have no length that the spec would bound; a document is in memory anyway. */
  private val factory: JsonFactory = new JsonFactory()
    .setStreamReadConstraints(StreamReadConstraints.builder().maxStringLength(Int.MaxValue).build())

  private val mapper: ObjectMapper =
    JsonMapper.builder(factory).enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build()

  /** @param file what the document is called in messages */
  def parse(file: String, json: Array[Byte]): JsonValue = parsed(file, mapper.readTree(json))

  def parse(file: String, json: String): JsonValue = parsed(file, mapper.readTree(json))

  private def parsed(file: String, read: => JsonNode): JsonValue = {
    def fail(reason: String, cause: Throwable): Nothing = throw InvalidMetadata(file, "$", reason, Some(cause))
    val node =
      try read
      catch {
        case e: JsonProcessingException =>
          val at = Option(e.getLocation).fold("")(l => s" at line ${l.getLineNr}, column ${l.getColumnNr}")
          fail(s"It is not JSON, or is cut short: ${e.getOriginalMessage}$at", e)
        case e: IOException => fail(s"It is not JSON: ${e.getMessage}", e)
      }
    if (node.isMissingNode) throw InvalidMetadata(file, "$", "It is empty")
    new JsonValue(file, () => "$", node)
  }
}
