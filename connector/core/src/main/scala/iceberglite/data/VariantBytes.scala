package iceberglite.data

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import iceberglite.spec.IcebergError.InvalidArgument

/**
 * The bytes of the metadata or of the value of a variant. Numbers are little-endian, and reads beyond the end are
 * rejected. Positions (`offset`) are relative to the first of these bytes.
 */
final private class VariantBytes(buffer: ByteBuffer) {
  private val start = buffer.position()
  val size: Int = buffer.remaining

  def byte(offset: Int): Int = {
    requireBytes(offset, 1)
    buffer.get(start + offset) & 0xff
  }

  /** Reads an unsigned number of 1 to 4 bytes, such as a size or an offset. */
  def unsigned(offset: Int, bytes: Int): Int = {
    val value = signed(offset, bytes) & (if (bytes == 8) -1L else (1L << (bytes * 8)) - 1)
    if (value > Int.MaxValue) fail(s"it claims a size of $value")
    value.toInt
  }

  /** Reads a signed number. @param bytes size of the number in bytes, 1 to 8 */
  def signed(offset: Int, bytes: Int): Long = {
    requireBytes(offset, bytes)
    var value = 0L
    var i = bytes - 1
    while (i >= 0) {
      value = value << 8 | (buffer.get(start + offset + i) & 0xffL)
      i -= 1
    }
    val unused = 64 - bytes * 8
    value << unused >> unused
  }

  def slice(offset: Int, bytes: Int): ByteBuffer = {
    requireBytes(offset, bytes)
    val part = buffer.duplicate()
    part.position(start + offset)
    part.limit(start + offset + bytes)
    part
  }

  def array(offset: Int, bytes: Int): Array[Byte] = {
    val array = new Array[Byte](slice(offset, bytes).remaining)
    slice(offset, bytes).get(array)
    array
  }

  def isAt(offset: Int, content: Array[Byte]): Boolean = {
    requireBytes(offset, content.length)
    var i = 0
    while (i < content.length && buffer.get(start + offset + i) == content(i)) i += 1
    i == content.length
  }

  def text(offset: Int, bytes: Int): String = UTF_8.decode(slice(offset, bytes)).toString

  private def requireBytes(offset: Int, bytes: Int): Unit =
    if (offset < 0 || bytes < 0 || offset > size - bytes) {
      fail(s"it refers to byte ${offset.toLong + bytes}, but has only $size bytes")
    }

  def fail(reason: String): Nothing = throw InvalidArgument("variant", s"$size bytes", s"It is not a variant: $reason")
}

/** The dictionary of field names. Objects refer to names by their index. */
final private class VariantNames(bytes: VariantBytes) {
  private val header = bytes.byte(0)
  if ((header & 0xf) != 1) bytes.fail(s"its metadata has version ${header & 0xf}, but only version 1 is supported")

  private val width = (header >> 6 & 3) + 1
  private val count = bytes.unsigned(1, width)
  private val offsets = 1 + width
  private val strings = {
    val end = offsets.toLong + (count.toLong + 1) * width
    if (end > bytes.size) bytes.fail(s"its metadata claims $count names in ${bytes.size} bytes")
    end.toInt
  }

  /** The end of the dictionary. */
  def end: Int = strings + offset(count)

  def apply(id: Int): String = {
    val size = length(id)
    bytes.text(strings + offset(id), size)
  }

  /** Whether a name is equal to a text in UTF-8. */
  def isAt(id: Int, text: Array[Byte]): Boolean = length(id) == text.length && bytes.isAt(strings + offset(id), text)

  /** Returns the length of a name, after checks that there is such a name. */
  private def length(id: Int): Int = {
    if (id >= count) bytes.fail(s"it refers to the name with index $id, but its metadata has only $count names")
    val (from, to) = (offset(id), offset(id + 1))
    if (to < from) bytes.fail("the names in its metadata overlap")
    to - from
  }

  private def offset(id: Int): Int = bytes.unsigned(offsets + id * width, width)
}
