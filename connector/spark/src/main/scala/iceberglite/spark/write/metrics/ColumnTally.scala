package iceberglite.spark.write.metrics

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.Arrays

import iceberglite.metrics.{CollectedValues, DoubleCollector, FloatCollector, SpatialCollector}
import iceberglite.spec.types.{Literal, PrimitiveType, SingleValue}
import iceberglite.spec.types.Literal.DecimalLiteral

/**
 * Collects the metrics of one column from its values. Each representation of values in rows has its own class, to avoid
 * boxing.
 */
sealed abstract private[write] class ColumnTally {
  private var nullCount = 0L

  final def addNull(): Unit = nullCount += 1

  final def nulls: Long = nullCount

  /** The floating-point statistics; absent for other types. */
  def collected: Option[CollectedValues] = None

  /** The minimum and the maximum; absent if there is no value. */
  def bounds: Option[(Literal, Literal)]
}

/**
 * Collects the metrics of values that rows represent as numbers.
 *
 * @param literal converts a number to a value of the column
 */
final private[write] class LongTally(literal: Long => Literal) extends ColumnTally {
  private var min = Long.MaxValue
  private var max = Long.MinValue

  def add(value: Long): Unit = {
    if (value < min) min = value
    if (value > max) max = value
  }

  override def bounds: Option[(Literal, Literal)] =
    if (min <= max) Some((literal(min), literal(max))) else None
}

final private[write] class FloatTally extends ColumnTally {
  private val range = new FloatCollector

  def add(value: Float): Unit = range.add(value)

  override def collected: Option[CollectedValues] = Some(range.values)
  override def bounds: Option[(Literal, Literal)] = range.values.bounds
}

final private[write] class DoubleTally extends ColumnTally {
  private val range = new DoubleCollector

  def add(value: Double): Unit = range.add(value)

  override def collected: Option[CollectedValues] = Some(range.values)
  override def bounds: Option[(Literal, Literal)] = range.values.bounds
}

/** Collects the metrics of decimals whose unscaled value does not fit a long. */
final private[write] class DecimalTally extends ColumnTally {
  private var min: BigDecimal = _
  private var max: BigDecimal = _

  def add(value: BigDecimal): Unit =
    if (min == null) {
      min = value
      max = value
    } else if (value.compareTo(min) < 0) min = value
    else if (value.compareTo(max) > 0) max = value

  override def bounds: Option[(Literal, Literal)] =
    if (min == null) None else Some((DecimalLiteral(min), DecimalLiteral(max)))
}

/** Collects the metrics of values that files store as bytes. */
sealed abstract private[write] class BytesTally extends ColumnTally {
  def add(bytes: Array[Byte], offset: Int, length: Int): Unit
}

/**
 * Collects the bounds of values of type geometry or geography.
 *
 * @param column the full name of the column, for messages
 * @param isChecked whether a value that is not WKB is an error
 */
final private[write] class SpatialTally(columnType: PrimitiveType, column: String, isChecked: Boolean)
    extends BytesTally {
  private val collector = new SpatialCollector(columnType)

  override def add(bytes: Array[Byte], offset: Int, length: Int): Unit =
    collector.add(ByteBuffer.wrap(bytes, offset, length), column, isChecked)

  override def bounds: Option[(Literal, Literal)] = collector.values.bounds
}

/**
 * Collects the metrics of values that are ordered by their unsigned bytes, such as strings, binaries and UUIDs.
 *
 * @param columnType the type of the column
 * @param bounded whether bounds are collected; only in this case, bytes of the values are copied
 */
final private[write] class OrderedTally(columnType: PrimitiveType, bounded: Boolean) extends BytesTally {
  private val min = new BytesCopy
  private val max = new BytesCopy

  override def add(bytes: Array[Byte], offset: Int, length: Int): Unit = if (bounded) {
    if (min.isEmpty) {
      min.copyFrom(bytes, offset, length)
      max.copyFrom(bytes, offset, length)
    } else if (min.compare(bytes, offset, length) > 0) min.copyFrom(bytes, offset, length)
    else if (max.compare(bytes, offset, length) < 0) max.copyFrom(bytes, offset, length)
  }

  override def bounds: Option[(Literal, Literal)] =
    if (min.isEmpty) None else Some((min.literal, max.literal))

  /**
   * A copy of bytes in a reusable array. The array is reused because, in sorted rows, every value is a new maximum and
   * is copied.
   */
  final private class BytesCopy {
    private var bytes = new Array[Byte](32)
    private var length = -1

    def isEmpty: Boolean = length < 0

    def copyFrom(source: Array[Byte], offset: Int, count: Int): Unit = {
      if (count > bytes.length) bytes = new Array[Byte](math.max(count, bytes.length * 2))
      System.arraycopy(source, offset, bytes, 0, count)
      length = count
    }

    def compare(other: Array[Byte], offset: Int, count: Int): Int =
      Arrays.compareUnsigned(bytes, 0, length, other, offset, offset + count)

    def literal: Literal = SingleValue.decode(columnType, ByteBuffer.wrap(Arrays.copyOf(bytes, length)))
  }
}
