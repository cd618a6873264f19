package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

/** A JSON document as it stands: what its parts mean is [[JsonValue]]'s business. */
sealed private[json] trait JsonTree {

  /** The part as JSON again, but no longer than it takes to recognize it. */
  def show: String = {
    val text = new StringBuilder
    JsonTree.show(this, text)
    if (text.length > JsonTree.Shown) text.substring(0, JsonTree.Shown) + "..." else text.toString
  }
}

private[json] object JsonTree {
  final case class Text(value: String) extends JsonTree

  /** A number without fraction or exponent that is a long. */
  final case class Whole(value: Long) extends JsonTree

  /** Any other number, as it was written: 1e999999999 has no value that one would want to hold. */
  final case class Number(text: String) extends JsonTree
  final case class Bool(value: Boolean) extends JsonTree
  case object Null extends JsonTree
  final case class Elements(values: Array[JsonTree]) extends JsonTree

  /** An object; keys and values in their order, at least as many of one as of the other. */
  final case class Members(keys: Array[String], values: Array[JsonTree]) extends JsonTree {

    /** Most objects have a few keys, all interned by the parser: looking at each is the fastest way. */
    def find(key: String): Option[JsonTree] = {
      val at = indexOf(key)
      if (at < 0 || (values(at) eq Null)) None else Some(values(at))
    }

    private[json] def indexOf(key: String): Int = {
      var i = 0
      while (i < keys.length && !((keys(i) eq key) || keys(i) == key)) i += 1
      if (i < keys.length) i else -1
    }
  }

  private val Shown = 60

  /** Stops soon after it is long enough. */
  private def show(tree: JsonTree, out: StringBuilder): Unit = if (out.length <= Shown) tree match {
    case Text(value) => out.append('"').append(value.take(Shown)).append('"')
    case Whole(value) => out.append(value)
    case Number(text) => out.append(text.take(Shown))
    case Bool(value) => out.append(value)
    case Null => out.append("null")
    case Elements(values) =>
      out.append('[')
      values.iterator.takeWhile(_ => out.length <= Shown).zipWithIndex.foreach { case (v, i) =>
        if (i > 0) out.append(',')
        show(v, out)
      }
      out.append(']')
    case Members(keys, values) =>
      out.append('{')
      keys.indices.iterator.takeWhile(_ => out.length <= Shown).foreach { i =>
        if (i > 0) out.append(',')
        out.append('"').append(keys(i).take(Shown)).append("\":")
        show(values(i), out)
      }
      out.append('}')
  }

  /** As it was read. */
  def write(tree: JsonTree, out: JsonGenerator): Unit = tree match {
    case Text(value) => out.writeString(value)
    case Whole(value) => out.writeNumber(value)
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
