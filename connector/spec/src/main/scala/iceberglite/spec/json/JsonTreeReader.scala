package iceberglite.spec.json

import java.util

import com.fasterxml.jackson.core.{JsonParser, JsonToken}

import iceberglite.spec.json.JsonTree._

/**
 * Builds the tree of a document. Jackson limits the nesting depth of the document and the length of its numbers.
 *
 * @param fail reports errors that Jackson does not detect
 */
final private class JsonTreeReader(parser: JsonParser, fail: String => Nothing) {
  import JsonTreeReader._

  /**
   * The keys and values of all objects and arrays that are not yet complete. When an object or array is complete, its
   * keys and values are copied to its tree.
   */
  private var keys = new Array[String](64)
  private var values = new Array[JsonTree](64)
  private var size = 0

  private def readDocument(first: JsonToken): JsonTree = {
    val tree = readValue(first)
    if (Option(parser.nextToken()).isDefined) {
      fail(s"It is not valid JSON: there is text after the end of the document, at $position")
    }
    tree
  }

  private def position: String = {
    val location = parser.getCurrentLocation
    s"line ${location.getLineNr}, column ${location.getColumnNr}"
  }

  private def readValue(token: JsonToken): JsonTree = token match {
    case JsonToken.VALUE_STRING => Text(parser.getText)
    case JsonToken.VALUE_NUMBER_INT => readNumber()
    case JsonToken.START_OBJECT => readObject()
    case JsonToken.START_ARRAY => readArray()
    case JsonToken.VALUE_TRUE => True
    case JsonToken.VALUE_FALSE => False
    case JsonToken.VALUE_NULL => Null
    case _ => Number(parser.getText)
  }

  private def readNumber(): JsonTree = parser.getNumberType match {
    case JsonParser.NumberType.INT | JsonParser.NumberType.LONG => WholeNumber(parser.getLongValue)
    case _ => Number(parser.getText)
  }

  private def readArray(): JsonTree = {
    val start = size
    var token = parser.nextToken()
    while (token != JsonToken.END_ARRAY) {
      push("", readValue(token))
      token = parser.nextToken()
    }
    val tree = Elements(util.Arrays.copyOfRange(values, start, size))
    size = start
    tree
  }

  private def readObject(): JsonTree = {
    val start = size
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      val key = parser.getCurrentName
      push(key, readValue(parser.nextToken()))
    }
    val tree = Members(util.Arrays.copyOfRange(keys, start, size), util.Arrays.copyOfRange(values, start, size))
    size = start
    // A duplicate key is rejected, because two readers might choose different values for the key.
    firstDuplicate(tree.keys).foreach(key => fail(s"The key $key occurs twice in the object that ends at $position"))
    tree
  }

  private def push(key: String, value: JsonTree): Unit = {
    if (size == values.length) {
      keys = util.Arrays.copyOf(keys, size * 2)
      values = util.Arrays.copyOf(values, size * 2)
    }
    keys(size) = key
    values(size) = value
    size += 1
  }

  private def firstDuplicate(keys: Array[String]): Option[String] =
    if (keys.length > MaxLinearKeys) {
      val seen = new util.HashSet[String]
      keys.find(key => !seen.add(key))
    } else {
      var i = 1
      var found = -1
      while (i < keys.length && found < 0) {
        var j = 0
        while (j < i && !((keys(j) eq keys(i)) || keys(j) == keys(i))) j += 1
        if (j < i) found = i
        i += 1
      }
      if (found < 0) None else Some(keys(found))
    }
}

private[json] object JsonTreeReader {
  private val True = Bool(true)
  private val False = Bool(false)

  /**
   * The maximum number of keys for which duplicates are found by comparing all pairs. For more keys, a hash set is
   * used.
   */
  private val MaxLinearKeys = 24

  /**
   * Reads a document.
   *
   * @return absent if the document is empty
   * @throws java.io.IOException if the document is not JSON
   */
  def read(parser: JsonParser, fail: String => Nothing): Option[JsonTree] =
    Option(parser.nextToken()).map(first => new JsonTreeReader(parser, fail).readDocument(first))
}
