package iceberglite.avro

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

/** Writes Avro's binary encoding to a growing array. */
final private[iceberglite] class AvroOutput(initialSize: Int = 1 << 12) {
  private var bytes = new Array[Byte](initialSize)
  private var used = 0

  def size: Int = used

  /** The array whose first [[size]] bytes contain the output. It is valid until the next write. */
  def array: Array[Byte] = bytes

  def toBytes: Array[Byte] = Arrays.copyOf(bytes, used)

  def clear(): Unit = used = 0

  /** Writes a long or an int as a zigzag varint. */
  def writeLong(value: Long): Unit = {
    ensure(10)
    var rest = (value << 1) ^ (value >> 63)
    while ((rest & ~0x7fL) != 0) {
      bytes(used) = (rest | 0x80).toByte
      used += 1
      rest >>>= 7
    }
    bytes(used) = rest.toByte
    used += 1
  }

  def writeByte(value: Int): Unit = {
    ensure(1)
    bytes(used) = value.toByte
    used += 1
  }

  def writeBoolean(value: Boolean): Unit = writeByte(if (value) 1 else 0)

  def writeFloat(value: Float): Unit =
    writeLittleEndian(java.lang.Float.floatToRawIntBits(value).toLong, Integer.BYTES)

  def writeDouble(value: Double): Unit =
    writeLittleEndian(java.lang.Double.doubleToRawLongBits(value), java.lang.Long.BYTES)

  private def writeLittleEndian(value: Long, size: Int): Unit = {
    ensure(size)
    var i = 0
    while (i < size) {
      bytes(used + i) = (value >>> (8 * i)).toByte
      i += 1
    }
    used += size
  }

  /** Writes eight bytes in big-endian order, as in UUIDs. */
  def writeBigEndian(value: Long): Unit = {
    var shift = 56
    while (shift >= 0) {
      writeByte((value >>> shift).toInt)
      shift -= 8
    }
  }

  def writeText(value: String): Unit = {
    val encoded = value.getBytes(UTF_8)
    writeLong(encoded.length.toLong)
    writeRaw(encoded, 0, encoded.length)
  }

  /** Writes the length and then the bytes of the buffer, from position to limit. */
  def writeBytes(value: ByteBuffer): Unit = {
    writeLong(value.remaining.toLong)
    writeRaw(value)
  }

  /** Writes the bytes of the buffer, from position to limit, without a length. */
  def writeRaw(value: ByteBuffer): Unit = {
    val length = value.remaining
    ensure(length)
    value.duplicate().get(bytes, used, length)
    used += length
  }

  def writeRaw(source: Array[Byte], offset: Int, length: Int): Unit = {
    ensure(length)
    System.arraycopy(source, offset, bytes, used, length)
    used += length
  }

  /**
   * Writes the branch index of a value in a union whose first branch is null. All optional fields except those of type
   * `unknown` use such a union.
   */
  def writeBranch(isPresent: Boolean): Unit = writeByte(if (isPresent) 2 else 0)

  private def ensure(more: Int): Unit = if (bytes.length - used < more) {
    bytes = Arrays.copyOf(bytes, math.max(bytes.length.toLong * 2, used.toLong + more).min(Int.MaxValue - 8L).toInt)
  }
}
