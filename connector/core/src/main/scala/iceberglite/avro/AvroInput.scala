package iceberglite.avro

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

/**
 * Reads Avro's binary encoding from a range of an array. Lengths and counts are checked against the remaining bytes
 * before anything is allocated for them.
 *
 * @param end the position after the last byte
 */
final private[iceberglite] class AvroInput(val bytes: Array[Byte], start: Int, val end: Int) {
  private var offset = start
  private var emptyItemsRead = 0

  def position: Int = offset
  def remaining: Int = end - offset

  /** Continues at another position, which must be at most `end`. */
  def moveTo(position: Int): Unit = offset = position

  /** Reads a zigzag varint of at most ten bytes. */
  def readLong(): Long = {
    if (offset >= end) pastEnd()
    val first = bytes(offset)
    offset += 1
    if (first >= 0) (first >>> 1) ^ -(first & 1)
    else {
      var result = (first & 0x7f).toLong
      var shift = 7
      var next = first
      while (next < 0) {
        if (offset >= end) pastEnd()
        if (shift > 63) throw AvroFault(s"A number at byte $offset has more than ten bytes")
        next = bytes(offset)
        offset += 1
        result |= (next & 0x7fL) << shift
        shift += 7
      }
      (result >>> 1) ^ -(result & 1)
    }
  }

  def readInt(): Int = {
    val value = readLong()
    if (value.toInt != value) throw AvroFault(s"The value $value is out of range for an int")
    value.toInt
  }

  def readBoolean(): Boolean = readByte() != 0

  def readByte(): Byte = {
    if (offset >= end) pastEnd()
    offset += 1
    bytes(offset - 1)
  }

  def readFloat(): Float = java.lang.Float.intBitsToFloat(littleEndian(Integer.BYTES).toInt)

  def readDouble(): Double = java.lang.Double.longBitsToDouble(littleEndian(java.lang.Long.BYTES))

  private def littleEndian(size: Int): Long = {
    requireRemaining(size)
    var value = 0L
    var i = size - 1
    while (i >= 0) {
      value = (value << 8) | (bytes(offset + i) & 0xff)
      i -= 1
    }
    offset += size
    value
  }

  /** Reads the length of the value that follows. */
  def readLength(): Int = {
    val length = readLong()
    if (length < 0 || length > remaining) throw AvroFault(s"A value claims $length bytes, but $remaining are left")
    length.toInt
  }

  def readText(): String = {
    val length = readLength()
    offset += length
    new String(bytes, offset - length, length, UTF_8)
  }

  def readBytes(): ByteBuffer = readFixed(readLength())

  /**
   * Reads a fixed value. Returns a copy, so that a retained value does not prevent the block's memory from being
   * released.
   */
  def readFixed(length: Int): ByteBuffer = {
    skip(length)
    ByteBuffer.wrap(java.util.Arrays.copyOfRange(bytes, offset - length, offset))
  }

  def skip(length: Int): Unit = {
    requireRemaining(length)
    offset += length
  }

  def skipBytes(): Unit = skip(readLength())

  /** Skips `count` ints or longs. A varint ends at the first byte whose top bit is not set. */
  def skipNumbers(count: Int): Unit = {
    var numbersLeft = count
    while (numbersLeft > 0) {
      if (offset >= end) pastEnd()
      if (bytes(offset) >= 0) numbersLeft -= 1
      offset += 1
    }
  }

  /**
   * Reads the item count of the next block of an array or map whose items take at least one byte each; 0 marks the end.
   * A count above the number of remaining bytes is rejected.
   */
  def readBlockCount(): Int = {
    val items = readCount()
    if (items > remaining) throw AvroFault(s"A block has $items items, but $remaining bytes are left")
    items.toInt
  }

  /**
   * Reads the item count of the next block of an array whose items take zero bytes, such as nulls; 0 marks the end. The
   * bytes do not limit the count, so the total of the counts is limited to [[AvroInput.MaxEmptyItems]].
   */
  def readEmptyItemsCount(): Int = {
    val items = readCount()
    if (items > AvroInput.MaxEmptyItems - emptyItemsRead) {
      throw AvroFault(s"The lists of a block have more than ${AvroInput.MaxEmptyItems} elements that take no bytes")
    }
    emptyItemsRead += items.toInt
    items.toInt
  }

  /** Skips an array whose items take zero bytes. The time does not depend on the number of items. */
  def skipEmptyItems(): Unit = while (readCount() > 0) {}

  /** The number of bytes and of items of zero bytes that have been read. */
  def consumed: Long = offset.toLong - start + emptyItemsRead

  private def readCount(): Long = {
    val count = readLong()
    val items = if (count < 0) -count else count
    if (items < 0) throw AvroFault(s"A block has $items items")
    // A negative count is followed by the size of the block in bytes.
    if (count < 0) readLength()
    items
  }

  private def requireRemaining(length: Int): Unit = if (length < 0 || length > remaining) pastEnd()

  private def pastEnd(): Nothing = throw AvroFault.truncated
}

private[iceberglite] object AvroInput {

  /** The maximum number of array items of zero bytes in one input, which is usually a block of a file. */
  val MaxEmptyItems: Int = 1 << 24
}
