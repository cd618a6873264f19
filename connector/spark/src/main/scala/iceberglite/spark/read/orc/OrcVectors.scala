package iceberglite.spark.read.orc

import java.nio.ByteBuffer
import java.util.{Arrays, UUID}

import org.apache.hadoop.hive.ql.exec.vector.{ColumnVector => HiveVector, _}
import org.apache.spark.sql.types.{DataType, Decimal, StringType}
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.data.orc.OrcTimestamp
import iceberglite.spark.read.vector.TypedVector

/** A Spark column that reads a vector of the ORC library. The library reuses its vector for each batch. */
abstract private[orc] class OrcVector(inner: HiveVector, dataType: DataType) extends TypedVector(dataType) {
  final protected def index(row: Int): Int = if (inner.isRepeating) 0 else row

  override def hasNull: Boolean = !inner.noNulls
  override def isNullAt(rowId: Int): Boolean = !inner.noNulls && inner.isNull(index(rowId))

  /**
   * Counts the nulls up to the capacity of the vector, because the library does not report how many values a vector of
   * list elements has.
   */
  override def numNulls: Int =
    if (inner.noNulls) 0
    else if (inner.isRepeating) if (inner.isNull(0)) inner.isNull.length else 0
    else inner.isNull.count(identity)
}

/** Booleans, integers, dates and times of day. */
final private[orc] class OrcLongs(inner: LongColumnVector, dataType: DataType) extends OrcVector(inner, dataType) {
  override def getBoolean(rowId: Int): Boolean = inner.vector(index(rowId)) != 0
  override def getInt(rowId: Int): Int = inner.vector(index(rowId)).toInt
  override def getLong(rowId: Int): Long = inner.vector(index(rowId))
}

final private[orc] class OrcDoubles(inner: DoubleColumnVector, dataType: DataType)
    extends OrcVector(inner, dataType) {
  override def getFloat(rowId: Int): Float = inner.vector(index(rowId)).toFloat
  override def getDouble(rowId: Int): Double = inner.vector(index(rowId))
}

/**
 * Dates and timestamps whose conversion to the unit of the column may overflow.
 *
 * @param invalidValue creates the error from the reason
 */
abstract private[orc] class OrcTimes(inner: HiveVector, dataType: DataType, invalidValue: String => Throwable)
    extends OrcVector(inner, dataType) {
  protected def exactLong(index: Int): Long

  final override def getLong(rowId: Int): Long =
    if (isNullAt(rowId)) 0L
    else
      try exactLong(index(rowId))
      catch { case _: ArithmeticException => throw invalidValue("A value is out of the range of its type") }
}

final private[orc] class OrcTimestamps(
    inner: TimestampColumnVector,
    unitsPerSecond: Long,
    dataType: DataType,
    invalidValue: String => Throwable
) extends OrcTimes(inner, dataType, invalidValue) {
  override protected def exactLong(index: Int): Long = OrcTimestamp.exactly(inner, index, unitsPerSecond)
}

/** Dates of a column that was promoted from date to timestamp. */
final private[orc] class OrcDays(
    inner: LongColumnVector,
    unitsPerDay: Long,
    dataType: DataType,
    invalidValue: String => Throwable
) extends OrcTimes(inner, dataType, invalidValue) {
  override protected def exactLong(index: Int): Long = Math.multiplyExact(inner.vector(index), unitsPerDay)
}

/** Decimals whose unscaled value fits in a long. */
final private[orc] class OrcSmallDecimals(
    inner: Decimal64ColumnVector,
    maxUnscaled: Long,
    dataType: DataType,
    invalidValue: String => Throwable
) extends OrcVector(inner, dataType) {
  override def getDecimal(rowId: Int, precision: Int, scale: Int): Decimal =
    if (isNullAt(rowId)) null
    else {
      val unscaled = inner.vector(index(rowId))
      if (unscaled > maxUnscaled || unscaled < -maxUnscaled) {
        throw invalidValue(s"The value $unscaled (unscaled) is not a valid ${dataType.simpleString}")
      }
      Decimal.createUnsafe(unscaled, precision, scale)
    }
}

final private[orc] class OrcDecimals(
    inner: DecimalColumnVector,
    dataType: DataType,
    invalidValue: String => Throwable
) extends OrcVector(inner, dataType) {
  override def getDecimal(rowId: Int, precision: Int, scale: Int): Decimal =
    if (isNullAt(rowId)) null
    else {
      val value = inner.vector(index(rowId)).getHiveDecimal.bigDecimalValue
      // The scale of the value can be smaller than the scale of the column, because the library removes trailing zeros.
      if (value.scale > scale || value.precision - value.scale > precision - scale) {
        throw invalidValue(s"The value $value is not a valid ${dataType.simpleString}")
      }
      Decimal(value, precision, scale)
    }
}

/** Strings and binaries. */
private[orc] class OrcBytes(inner: BytesColumnVector, dataType: DataType, invalidValue: String => Throwable)
    extends OrcVector(inner, dataType) {

  override def getUTF8String(rowId: Int): UTF8String =
    if (isNullAt(rowId)) null
    else {
      val i = checkedIndex(index(rowId))
      UTF8String.fromBytes(inner.vector(i), inner.start(i), inner.length(i))
    }

  override def getBinary(rowId: Int): Array[Byte] =
    if (isNullAt(rowId)) null
    else {
      val i = checkedIndex(index(rowId))
      Arrays.copyOfRange(inner.vector(i), inner.start(i), inner.start(i) + inner.length(i))
    }

  /**
   * Checks that a value lies within its byte array, because Spark reads beyond the end of an array without an error.
   */
  private def checkedIndex(i: Int): Int = {
    val (bytes, start, length) = (inner.vector(i), inner.start(i), inner.length(i))
    if (start < 0 || length < 0 || start > bytes.length - length) {
      throw invalidValue("The file is damaged: a value extends beyond the available bytes")
    }
    i
  }
}

/**
 * Binaries of a fixed length. This class checks the length of each value, because the ORC library does not (spec:
 * "Appendix A: ORC").
 */
private[orc] class OrcFixed(
    inner: BytesColumnVector,
    length: Int,
    dataType: DataType,
    invalidValue: String => Throwable
) extends OrcBytes(inner, dataType, invalidValue) {
  override def getBinary(rowId: Int): Array[Byte] = {
    val value = super.getBinary(rowId)
    if (value != null && value.length != length) {
      throw invalidValue(s"A value has ${value.length} bytes, but must have $length")
    }
    value
  }
}

/** UUIDs, which are stored as 16 bytes and returned as text in the standard form. */
final private[orc] class OrcUuids(inner: BytesColumnVector, invalidValue: String => Throwable)
    extends OrcFixed(inner, OrcUuids.Size, StringType, invalidValue) {
  override def getUTF8String(rowId: Int): UTF8String =
    if (isNullAt(rowId)) null
    else {
      val bytes = ByteBuffer.wrap(getBinary(rowId))
      UTF8String.fromString(new UUID(bytes.getLong, bytes.getLong).toString)
    }
}

private object OrcUuids {
  val Size = 16
}
