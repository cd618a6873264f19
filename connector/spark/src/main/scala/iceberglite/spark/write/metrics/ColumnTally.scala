package iceberglite.spark.write.metrics

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.Arrays

import iceberglite.io.{DoubleRange, FloatRange, FloatingValues}
import iceberglite.spec.Literal.DecimalLiteral
import iceberglite.spec.{Literal, PrimitiveType, SingleValue}

/**
 * What a file's metadata keeps of one column, collected as its values go by. There is a class for each way in which
 * rows hold values, so that none is put into an object.
 */
sealed abstract private[write] class ColumnTally {
  private var absent = 0L

  final def addNull(): Unit = absent += 1

  final def nulls: Long = absent

  /** Absent where the values are no floating point numbers. */
  def floating: Option[FloatingValues] = None

  /** The least and the greatest value; absent where there is none. */
  def bounds: Option[(Literal, Literal)]
}

/** @param literal the value of the column that a number stands for */
final private[write] class LongTally(literal: Long => Literal) extends ColumnTally {
  private var least = Long.MaxValue
  private var greatest = Long.MinValue

  def add(value: Long): Unit = {
    if (value < least) least = value
    if (value > greatest) greatest = value
  }

  override def bounds: Option[(Literal, Literal)] =
    if (least <= greatest) Some((literal(least), literal(greatest))) else None
}

final private[write] class FloatTally extends ColumnTally {
  private val range = new FloatRange

  def add(value: Float): Unit = range.add(value)

  override def floating: Option[FloatingValues] = Some(range.values)
  override def bounds: Option[(Literal, Literal)] = range.values.bounds
}

final private[write] class DoubleTally extends ColumnTally {
  private val range = new DoubleRange

  def add(value: Double): Unit = range.add(value)

  override def floating: Option[FloatingValues] = Some(range.values)
  override def bounds: Option[(Literal, Literal)] = range.values.bounds
}

/** Of decimals that no long holds. */
final private[write] class DecimalTally extends ColumnTally {
  private var least: BigDecimal = _
  private var greatest: BigDecimal = _

  def add(value: BigDecimal): Unit =
    if (least == null) {
      least = value
      greatest = value
    } else if (value.compareTo(least) < 0) least = value
    else if (value.compareTo(greatest) > 0) greatest = value

  override def bounds: Option[(Literal, Literal)] =
    if (least == null) None else Some((DecimalLiteral(least), DecimalLiteral(greatest)))
}

/**
 * Of strings, binaries and UUIDs, which are in the order of their unsigned bytes.
 *
 * @param columnType whose values the bytes are
 * @param bounded whether anybody asks for bounds, for which bytes are copied
 */
final private[write] class BytesTally(columnType: PrimitiveType, bounded: Boolean) extends ColumnTally {
  private val least = new Copy
  private val greatest = new Copy

  def add(bytes: Array[Byte], offset: Int, length: Int): Unit = if (bounded) {
    if (least.isEmpty) {
      least.take(bytes, offset, length)
      greatest.take(bytes, offset, length)
    } else if (least.compare(bytes, offset, length) > 0) least.take(bytes, offset, length)
    else if (greatest.compare(bytes, offset, length) < 0) greatest.take(bytes, offset, length)
  }

  override def bounds: Option[(Literal, Literal)] =
    if (least.isEmpty) None else Some((least.literal, greatest.literal))

  /** Bytes in an array that is used again: in sorted rows every value is the greatest so far. */
  final private class Copy {
    private var bytes = new Array[Byte](32)
    private var length = -1

    def isEmpty: Boolean = length < 0

    def take(source: Array[Byte], offset: Int, count: Int): Unit = {
      if (count > bytes.length) bytes = new Array[Byte](math.max(count, bytes.length * 2))
      System.arraycopy(source, offset, bytes, 0, count)
      length = count
    }

    def compare(other: Array[Byte], offset: Int, count: Int): Int =
      Arrays.compareUnsigned(bytes, 0, length, other, offset, offset + count)

    def literal: Literal = SingleValue.decode(columnType, ByteBuffer.wrap(Arrays.copyOf(bytes, length)))
  }
}
