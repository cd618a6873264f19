package iceberglite.spark.write.files

import java.util.UUID

import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spec.IcebergError.InvalidArgument

/** Parses UUIDs, which Spark represents as strings. */
private[iceberglite] object UuidText {
  private val Length = 36
  private val dashes = Array(8, 13, 18, 23)

  /** The positions of the hexadecimal digits in the text, in order. */
  private val digits: Array[Int] = (0 until Length).filterNot(dashes.contains(_)).toArray

  /**
   * Parses a UUID.
   *
   * @param column the name of the column, for messages
   */
  def parse(text: UTF8String, column: String): UUID = {
    val bytes = text.getBytes
    if (bytes.length != Length || !dashes.forall(i => bytes(i) == '-')) fail(text, column)
    new UUID(half(bytes, 0, text, column), half(bytes, digits.length / 2, text, column))
  }

  private def half(bytes: Array[Byte], start: Int, text: UTF8String, column: String): Long = {
    var bits = 0L
    var i = start
    while (i < start + digits.length / 2) {
      val digit = Character.digit(bytes(digits(i)).toInt, 16)
      if (digit < 0) fail(text, column)
      bits = bits << 4 | digit.toLong
      i += 1
    }
    bits
  }

  private def fail(text: UTF8String, column: String): Nothing = throw InvalidArgument(
    s"value of column $column",
    text.toString,
    "It must be a UUID such as f79c3e09-677c-4bbd-a479-3f349cb785e7"
  )
}
