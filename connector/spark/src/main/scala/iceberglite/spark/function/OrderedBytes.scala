package iceberglite.spark.function

import java.nio.ByteBuffer
import java.util.Arrays

import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * Converts values to bytes for the positions of rows on space-filling curves. A greater value has greater or equal
 * bytes, compared as unsigned numbers. The bytes of a null are zeros, so a null is less than or equal to every value.
 */
private[iceberglite] object OrderedBytes {

  /** The number of bytes of a number, a date or a timestamp. */
  val NumberBytes = 8

  /** Returns whether the values of a type can be converted. */
  def isSupported(dataType: DataType): Boolean = dataType match {
    case _: NumericType | BooleanType | DateType | TimestampType | TimestampNTZType | StringType | BinaryType => true
    case _ => false
  }

  /**
   * Returns a function that converts a value in Spark's internal format to bytes.
   *
   * @param variableBytes the number of bytes of a string or binary value
   */
  def converter(dataType: DataType, variableBytes: Int): Any => Array[Byte] = dataType match {
    case BooleanType => value => number(if (value == true) 1L else 0L, value)
    case ByteType | ShortType | IntegerType | LongType | DateType | TimestampType | TimestampNTZType =>
      value => number(if (value == null) 0L else value.asInstanceOf[Number].longValue, value)
    case FloatType | DoubleType => value => if (value == null) zeros(NumberBytes) else real(value.asInstanceOf[Number])
    case _: DecimalType =>
      value => if (value == null) zeros(NumberBytes) else real(value.asInstanceOf[Decimal].toDouble)
    case StringType =>
      value => prefix(value match { case s: UTF8String => s.getBytes; case _ => zeros(0) }, variableBytes)
    case _ => value => prefix(value match { case b: Array[Byte] => b; case _ => zeros(0) }, variableBytes)
  }

  private def zeros(length: Int): Array[Byte] = new Array[Byte](length)

  private def number(value: Long, orNull: Any): Array[Byte] =
    if (orNull == null) zeros(NumberBytes) else ofLong(value ^ Long.MinValue)

  /**
   * Converts a floating-point number. The bits of negative numbers are inverted, and only the sign bit of other
   * numbers is inverted, so that other numbers are ordered after negative numbers.
   */
  private def real(value: Number): Array[Byte] = {
    val bits = java.lang.Double.doubleToLongBits(value.doubleValue)
    ofLong(if (bits < 0) ~bits else bits ^ Long.MinValue)
  }

  /** Returns the big-endian bytes of a number. */
  def ofLong(bits: Long): Array[Byte] = ByteBuffer.allocate(NumberBytes).putLong(bits).array

  /** Returns the number with these big-endian bytes. */
  def toLong(bytes: Array[Byte]): Long = ByteBuffer.wrap(bytes).getLong

  private def prefix(bytes: Array[Byte], length: Int): Array[Byte] = Arrays.copyOf(bytes, length)

  /**
   * Interleaves the bits of all columns, beginning with the most significant bit of each column.
   *
   * @param maxBytes maximum length of the result
   */
  def interleave(columns: Array[Array[Byte]], maxBytes: Int): Array[Byte] = {
    val longest = columns.iterator.map(_.length).max
    val length = math.min(columns.iterator.map(_.length).sum, maxBytes)
    if (columns.length <= MaxSpread && columns.forall(_.length == longest)) interleaveBytes(columns, length)
    else interleaveBits(columns, longest, length)
  }

  /** The maximum number of columns for which the interleaved bits of one byte of each column fit into a `Long`. */
  private val MaxSpread = 8

  /**
   * For each number of columns n, and each value of a byte: the bits of the byte with n - 1 zero bits after each
   * bit.
   */
  private val spread: Array[Array[Long]] = Array.tabulate(MaxSpread + 1, 256) { (columns, byte) =>
    (0 until 8).iterator.map(bit => (byte >> bit & 1).toLong << (bit * columns + columns - 1)).sum
  }

  /** Interleaves columns of equal length, one byte of each column at a time. */
  private def interleaveBytes(columns: Array[Array[Byte]], length: Int): Array[Byte] = {
    val (result, bits) = (new Array[Byte](length), spread(columns.length))
    var next = 0
    while (next < length) {
      val position = next / columns.length
      var (group, i) = (0L, 0)
      while (i < columns.length) {
        group |= bits(columns(i)(position) & 0xff) >>> i
        i += 1
      }
      while (i > 0 && next < length) {
        i -= 1
        result(next) = (group >>> (i * 8)).toByte
        next += 1
      }
    }
    result
  }

  private def interleaveBits(columns: Array[Array[Byte]], longest: Int, length: Int): Array[Byte] = {
    val result = new Array[Byte](length)
    var (bit, next) = (0, 0)
    while (bit < longest * 8 && next < length * 8) {
      var i = 0
      while (i < columns.length && next < length * 8) {
        val column = columns(i)
        if (bit < column.length * 8) {
          if ((column(bit >> 3) & (0x80 >> (bit & 7))) != 0)
            result(next >> 3) = (result(next >> 3) | (0x80 >> (next & 7))).toByte
          next += 1
        }
        i += 1
      }
      bit += 1
    }
    result
  }
}
