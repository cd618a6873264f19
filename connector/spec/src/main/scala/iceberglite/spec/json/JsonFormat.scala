package iceberglite.spec.json

import java.io.{ByteArrayOutputStream, StringWriter}

import com.fasterxml.jackson.core.{JsonFactory, JsonGenerator}

/** The JSON form of a part of the metadata (spec: "Appendix C"). */
trait JsonFormat[A] {

  /**
   * Reads a value.
   *
   * @throws iceberglite.spec.IcebergError.InvalidMetadata if the JSON violates the specification
   * @throws iceberglite.spec.IcebergError.Unsupported if the JSON has a format version that this release does not
   *   support
   */
  def read(json: JsonValue): A

  def write(value: A, out: JsonGenerator): Unit

  /** Reads a document. @param file the name of the document in messages */
  def parse(file: String, json: String): A = read(JsonValue.parse(file, json))

  def parse(file: String, json: Array[Byte]): A = read(JsonValue.parse(file, json))

  def toJson(value: A): String = JsonFormat.text(write(value, _))

  def toBytes(value: A): Array[Byte] = JsonFormat.bytes(write(value, _))
}

private[iceberglite] object JsonFormat {
  private val factory = new JsonFactory

  /** The initial buffer size for a small part of the metadata, in bytes. */
  private val SmallBufferSize = 1 << 9

  def text(write: JsonGenerator => Unit): String = {
    val target = new StringWriter
    val out = factory.createGenerator(target)
    write(out)
    out.close()
    target.toString
  }

  /** Returns JSON as UTF-8 bytes. @param expectedSize the approximate size in bytes */
  def bytes(write: JsonGenerator => Unit, expectedSize: Int = SmallBufferSize): Array[Byte] = {
    val target = new ByteArrayOutputStream(expectedSize)
    val out = factory.createGenerator(target)
    write(out)
    out.close()
    target.toByteArray
  }

  /** Writes a key with an array. */
  def writeArray[A](out: JsonGenerator, key: String, values: Iterable[A])(write: A => Unit): Unit = {
    out.writeArrayFieldStart(key)
    values.foreach(write)
    out.writeEndArray()
  }

  /**
   * Writes a key with an object of strings. The keys of the object are sorted, so that equal metadata results in equal
   * files.
   */
  def writeStrings(out: JsonGenerator, key: String, values: Map[String, String]): Unit = {
    out.writeObjectFieldStart(key)
    values.toVector.sortBy(_._1).foreach { case (k, v) => out.writeStringField(k, v) }
    out.writeEndObject()
  }
}
