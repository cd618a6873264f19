package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

/** The syntax tree of a JSON value. [[JsonValue]] interprets the tree. */
sealed private[json] trait JsonTree {

  /** Returns the value as JSON for messages, truncated to a length that is sufficient to recognize the value. */
  def show: String = {
    val text = new StringBuilder
    JsonTree.show(this, text)
    if (text.length > JsonTree.MaxShownLength) text.substring(0, JsonTree.MaxShownLength) + "..." else text.toString
  }
}

private[json] object JsonTree {
  final case class Text(value: String) extends JsonTree

  /** A number without fraction or exponent that fits into a long. */
  final case class WholeNumber(value: Long) extends JsonTree

  /**
   * Any other number. It is stored as text, because the value of a number such as 1e999999999 would need too much
   * memory.
   */
  final case class Number(text: String) extends JsonTree
  final case class Bool(value: Boolean) extends JsonTree
  case object Null extends JsonTree
  final case class Elements(values: Array[JsonTree]) extends JsonTree

  /** An object. Its keys and values are in the order of the document, and each value has the same index as its key. */
  final case class Members(keys: Array[String], values: Array[JsonTree]) extends JsonTree {

    /**
     * Returns the value of a key; absent if the key is missing or its value is null. A linear search is the fastest,
     * because most objects have only a few keys, and because the parser interns all keys.
     */
    def find(key: String): Option[JsonTree] = {
      val index = indexOf(key)
      if (index < 0 || (values(index) eq Null)) None else Some(values(index))
    }

    private[json] def indexOf(key: String): Int = {
      var i = 0
      while (i < keys.length && !((keys(i) eq key) || keys(i) == key)) i += 1
      if (i < keys.length) i else -1
    }
  }

  private val MaxShownLength = 60

  /** Appends a tree as JSON, until the text is longer than [[MaxShownLength]]. */
  private def show(tree: JsonTree, out: StringBuilder): Unit = if (out.length <= MaxShownLength) tree match {
    case Text(value) => out.append('"').append(value.take(MaxShownLength)).append('"')
    case WholeNumber(value) => out.append(value)
    case Number(text) => out.append(text.take(MaxShownLength))
    case Bool(value) => out.append(value)
    case Null => out.append("null")
    case Elements(values) =>
      out.append('[')
      values.iterator.takeWhile(_ => out.length <= MaxShownLength).zipWithIndex.foreach { case (v, i) =>
        if (i > 0) out.append(',')
        show(v, out)
      }
      out.append(']')
    case Members(keys, values) =>
      out.append('{')
      keys.indices.iterator.takeWhile(_ => out.length <= MaxShownLength).foreach { i =>
        if (i > 0) out.append(',')
        out.append('"').append(keys(i).take(MaxShownLength)).append("\":")
        show(values(i), out)
      }
      out.append('}')
  }

  /** Writes the tree as it was read. */
  def write(tree: JsonTree, out: JsonGenerator): Unit = tree match {
    case Text(value) => out.writeString(value)
    case WholeNumber(value) => out.writeNumber(value)
    case Number(text) => out.writeRawValue(text)
    case Bool(value) => out.writeBoolean(value)
    case Null => out.writeNull()
    case Elements(values) =>
      out.writeStartArray()
      values.foreach(write(_, out))
      out.writeEndArray()
    case Members(keys, values) =>
      out.writeStartObject()
      keys.indices.foreach { i =>
        out.writeFieldName(keys(i))
        write(values(i), out)
      }
      out.writeEndObject()
  }
}
