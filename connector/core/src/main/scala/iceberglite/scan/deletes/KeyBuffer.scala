package iceberglite.scan.deletes

import java.math.BigDecimal
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Arrays, UUID}

/**
 * A buffer that contains the key of a row as bytes. Equal keys have equal bytes. [[KeySet]] stores and looks up keys in
 * this form. The buffer is reused for each row. Not thread-safe.
 */
final class KeyBuffer {
  private var buffer: Array[Byte] = new Array[Byte](64)
  private var numbers: ByteBuffer = wrap
  private var used = 0

  /** Returns the buffer; the key is at its beginning. */
  def array: Array[Byte] = buffer

  def size: Int = used

  def clear(): Unit = used = 0

  def putNull(): Unit = putTag(KeyBuffer.Null)

  /** Appends an integer, a date, a time or a timestamp. */
  def putLong(value: Long): Unit = {
    putTag(KeyBuffer.Value)
    // `reserve` must be called before `numbers` is used, because it may replace the buffers.
    val offset = reserve(java.lang.Long.BYTES)
    numbers.putLong(offset, value)
    ()
  }

  /**
   * Appends a floating-point value. As in Java and Apache Iceberg, all NaNs are equal, and zero is not equal to
   * negative zero.
   */
  def putDouble(value: Double): Unit = putLong(java.lang.Double.doubleToLongBits(value))

  def putBoolean(value: Boolean): Unit = putTag(if (value) KeyBuffer.True else KeyBuffer.Value)

  def putDecimal(value: BigDecimal): Unit = {
    putLong(value.scale.toLong)
    putBytes(value.unscaledValue.toByteArray)
  }

  def putBytes(value: Array[Byte]): Unit = {
    val offset = putLength(value.length)
    System.arraycopy(value, 0, buffer, offset, value.length)
  }

  /**
   * Appends the length of a byte sequence, and reserves space for the bytes.
   *
   * @return the position in [[array]] at which the caller must write `length` bytes
   */
  def putLength(length: Int): Int = {
    putTag(KeyBuffer.Value)
    val offset = reserve(Integer.BYTES)
    numbers.putInt(offset, length)
    reserve(length)
  }

  /** Appends a value that has a Java type of [[iceberglite.data.Record]]. */
  def put(value: AnyRef): Unit = value match {
    case null => putNull()
    case v: Integer => putLong(v.longValue)
    case v: java.lang.Long => putLong(v)
    case v: java.lang.Float => putDouble(v.doubleValue)
    case v: java.lang.Double => putDouble(v)
    case v: java.lang.Boolean => putBoolean(v)
    case v: String => putBytes(v.getBytes(UTF_8))
    // UUIDs are compared as text, which is their type in Spark.
    case v: UUID => putBytes(v.toString.getBytes(UTF_8))
    case v: BigDecimal => putDecimal(v)
    case v: ByteBuffer =>
      val offset = putLength(v.remaining)
      v.duplicate().get(buffer, offset, v.remaining)
      ()
    case other =>
      throw new IllegalArgumentException(s"A key cannot contain values of the class ${other.getClass.getName}")
  }

  /** Replaces the key with a copy of the given bytes. */
  private[scan] def set(source: Array[Byte], from: Int, length: Int): Unit = {
    used = 0
    reserve(length)
    System.arraycopy(source, from, buffer, 0, length)
  }

  /** Returns whether the value is null. May be called only if the key is that of a single column stored as a long. */
  private[scan] def isNull: Boolean = buffer(0) == KeyBuffer.Null

  /** Returns the value of the key. May be called only if the key is a single value that was added by [[putLong]]. */
  private[scan] def long: Long = numbers.getLong(1)

  private[scan] def hash: Long = {
    var h = KeyBuffer.Seed ^ used
    var i = 0
    while (i + java.lang.Long.BYTES <= used) {
      h = KeyBuffer.mix(h ^ numbers.getLong(i))
      i += java.lang.Long.BYTES
    }
    while (i < used) {
      h = (h ^ buffer(i)) * KeyBuffer.Factor
      i += 1
    }
    KeyBuffer.mix(h)
  }

  private[scan] def equalsAt(other: Array[Byte], from: Int, length: Int): Boolean =
    length == used && Arrays.equals(buffer, 0, used, other, from, from + length)

  private def putTag(tag: Byte): Unit = {
    val offset = reserve(1)
    buffer(offset) = tag
  }

  private def reserve(length: Int): Int = {
    if (buffer.length - used < length) {
      buffer = Arrays.copyOf(buffer, math.max(buffer.length * 2, used + length))
      numbers = wrap
    }
    used += length
    used - length
  }

  private def wrap: ByteBuffer = ByteBuffer.wrap(buffer).order(ByteOrder.LITTLE_ENDIAN)
}

private object KeyBuffer {
  val Null: Byte = 0
  val Value: Byte = 1
  val True: Byte = 2
  val Seed = 0x2545f4914f6cdd1dL
  val Factor = 0x9e3779b97f4a7c15L

  /** Mixes the bits, so that every bit of the result depends on all bits of the value. */
  def mix(value: Long): Long = {
    var h = value
    h = (h ^ (h >>> 32)) * 0xd6e8feb86659fd93L
    h = (h ^ (h >>> 32)) * 0xd6e8feb86659fd93L
    h ^ (h >>> 32)
  }
}
