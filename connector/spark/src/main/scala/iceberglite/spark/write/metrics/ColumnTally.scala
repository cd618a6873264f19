package iceberglite.spark.write.metrics

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.Arrays

import iceberglite.metrics.{DoubleRange, FloatRange, FloatingValues}
import iceberglite.spec.types.{Literal, PrimitiveType, SingleValue}
import iceberglite.spec.types.Literal.DecimalLiteral

/**
 * The metrics of one column, collected from its values. There is a class for each representation of values in rows, to
 * avoid boxing.
 */
sealed abstract private[write] class ColumnTally {
  private var absent = 0L

  final def addNull(): Unit = absent += 1

  final def nulls: Long = absent

  /** The floating-point statistics; absent for other types. */
  def floating: Option[FloatingValues] = None

  /** The minimum and the maximum; absent if there is no value. */
  def bounds: Option[(Literal, Literal)]
}

/** For numbers. @param literal converts a number to a value of the column */
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

/** For decimals that do not fit a long. */
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
 * For strings, binaries and UUIDs, which are ordered by their unsigned bytes.
 *
 * @param columnType the type of the column
 * @param bounded whether bounds are needed, for which bytes are copied
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

  /** A reusable copy of bytes: in sorted rows, every value is the current maximum. */
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
