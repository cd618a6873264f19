package iceberglite.spark.read.vector

import java.nio.ByteBuffer
import java.util.UUID

import org.apache.spark.sql.types.{Decimal, DecimalType, DoubleType, LongType, StringType, TimestampNTZType}
import org.apache.spark.sql.vectorized.ColumnVector
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spec.types.DateTime

/** An int column that was promoted to long (spec: "Schema Evolution"). */
final private[read] class IntAsLong(inner: ColumnVector) extends ForwardingVector(inner, LongType) {
  override def getLong(rowId: Int): Long = inner.getInt(rowId).toLong
}

/** A float column that was promoted to double. */
final private[read] class FloatAsDouble(inner: ColumnVector) extends ForwardingVector(inner, DoubleType) {
  override def getDouble(rowId: Int): Double = inner.getFloat(rowId).toDouble
}

/**
 * A decimal column for which Spark expects another physical type than the type in the file, for example because the
 * precision of the column was increased.
 *
 * @param read the decimal type of the stored values
 * @param expected the decimal type of the column
 */
final private[read] class DecimalAsDecimal(inner: ColumnVector, read: DecimalType, expected: DecimalType)
    extends ForwardingVector(inner, expected) {
  override def getDecimal(rowId: Int, precision: Int, scale: Int): Decimal = {
    val value = inner.getDecimal(rowId, read.precision, read.scale)
    if (value != null && !value.changePrecision(precision, scale)) {
      throw new ArithmeticException(s"$value does not fit a decimal($precision, $scale)")
    }
    value
  }
}

/** Times of day that a file stores in milliseconds. Only imported files store them in this unit. */
final private[read] class MillisAsMicros(inner: ColumnVector) extends ForwardingVector(inner, LongType) {
  override def getLong(rowId: Int): Long = inner.getInt(rowId) * 1000L
}

/**
 * A date column that was promoted to timestamp. The timestamp is midnight at the start of the day. Reading fails if the
 * timestamp is out of range.
 */
final private[read] class DateAsMicros(inner: ColumnVector) extends ForwardingVector(inner, TimestampNTZType) {
  override def getLong(rowId: Int): Long =
    if (inner.isNullAt(rowId)) 0L else Math.multiplyExact(inner.getInt(rowId).toLong, DateTime.MicrosPerDay)
}

/** A date column that was promoted to timestamp_ns. Reading fails for dates outside the years 1677 to 2262. */
final private[read] class DateAsNanos(inner: ColumnVector) extends ForwardingVector(inner, LongType) {
  override def getLong(rowId: Int): Long =
    if (inner.isNullAt(rowId)) 0L else Math.multiplyExact(inner.getInt(rowId).toLong, DateTime.NanosPerDay)
}

/** UUIDs, which are stored as 16 bytes and returned as text in the standard form. */
final private[read] class UuidAsText(inner: ColumnVector) extends ForwardingVector(inner, StringType) {
  override def getUTF8String(rowId: Int): UTF8String =
    if (inner.isNullAt(rowId)) null
    else {
      val bytes = ByteBuffer.wrap(inner.getBinary(rowId))
      UTF8String.fromString(new UUID(bytes.getLong, bytes.getLong).toString)
    }
}
