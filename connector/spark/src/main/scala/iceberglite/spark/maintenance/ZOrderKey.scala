package iceberglite.spark.maintenance

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.{TypeCheckFailure, TypeCheckSuccess}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * The position of a row on the Z-order curve through the values of several columns. Rows that are close in all columns
 * have close positions. Positions are compared as unsigned bytes. A null is less than or equal to every value.
 *
 * @param children the columns
 * @param variableBytes the number of bytes that a string or binary column contributes
 * @param maxBytes maximum length of the result
 */
final private[maintenance] case class ZOrderKey(children: Seq[Expression], variableBytes: Int, maxBytes: Int)
    extends Expression
    with CodegenFallback {

  override def dataType: DataType = BinaryType

  override def nullable: Boolean = false

  override def prettyName: String = "zorder"

  override def checkInputDataTypes(): TypeCheckResult = children.find(c => !ZOrderKey.isSupported(c.dataType)) match {
    case Some(column) =>
      TypeCheckFailure(s"the column ${column.sql} of type ${column.dataType.sql} cannot be Z-ordered")
    case None => TypeCheckSuccess
  }

  private lazy val converters: Array[Any => Array[Byte]] =
    children.map(c => ZOrderKey.converter(c.dataType, variableBytes)).toArray

  override def eval(input: InternalRow): Any = {
    val columns = new Array[Array[Byte]](converters.length)
    var i = 0
    while (i < columns.length) {
      columns(i) = converters(i)(children(i).eval(input))
      i += 1
    }
    ZOrderKey.interleave(columns, maxBytes)
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Expression =
    copy(children = newChildren)
}

private[maintenance] object ZOrderKey {
  private val NumberBytes = 8

  def isSupported(dataType: DataType): Boolean = dataType match {
    case _: NumericType | BooleanType | DateType | TimestampType | TimestampNTZType | StringType | BinaryType => true
    case _ => false
  }

  /**
   * Returns a function that converts a value in Spark's internal format to bytes. The unsigned order of the bytes is
   * the order of the values.
   */
  private def converter(dataType: DataType, variableBytes: Int): Any => Array[Byte] = dataType match {
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
   * Converts a floating-point number. The bits of negative numbers are inverted, and other numbers are ordered after
   * them.
   */
  private def real(value: Number): Array[Byte] = {
    val bits = java.lang.Double.doubleToLongBits(value.doubleValue)
    ofLong(if (bits < 0) ~bits else bits ^ Long.MinValue)
  }

  private def ofLong(bits: Long): Array[Byte] = ByteBuffer.allocate(NumberBytes).putLong(bits).array

  private def prefix(bytes: Array[Byte], length: Int): Array[Byte] = java.util.Arrays.copyOf(bytes, length)

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
   * For each number of columns n, and each value of a byte: the bits of the byte with n - 1 zero bits after each of
   * them.
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
