package iceberglite.spark.read.parquet

import java.math.BigInteger
import java.nio.ByteOrder

import org.apache.parquet.io.api.{Binary, PrimitiveConverter}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.{PrimitiveType => ParquetPrimitive}
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.{DataType, DecimalType, LongType, TimestampType}

/** Appends the values of a column of a file to a vector, in the same form as Spark's vectorized reader. */
private[parquet] object LeafConverter {

  def of(file: ParquetPrimitive, vector: WritableColumnVector): PrimitiveConverter =
    (file.getPrimitiveTypeName, vector.dataType) match {
      case (BOOLEAN, _) => new Booleans(vector)
      case (INT32, t) => if (isLong(t)) longs(vector, t) else new Ints(v => vector.appendInt(v))
      case (INT64, TimestampType) => new Longs(v => vector.appendLong(DateTimeUtils.millisToMicros(v)))
      case (INT64, t) =>
        if (isInt(t)) new Longs(v => vector.appendInt(v.toInt)) else new Longs(v => vector.appendLong(v))
      case (FLOAT, _) => new Floats(vector)
      case (DOUBLE, _) => new Doubles(vector)
      case (INT96, _) => new Binaries(v => vector.appendLong(micros(v)))
      case (BINARY | FIXED_LEN_BYTE_ARRAY, t) =>
        if (isInt(t)) new Binaries(v => vector.appendInt(unscaled(v).intValue))
        else if (isLong(t)) new Binaries(v => vector.appendLong(unscaled(v).longValue))
        else new Binaries(v => appendBytes(v.getBytesUnsafe, vector))
    }

  /** Whether a vector stores its decimals as ints. */
  private def isInt(t: DataType): Boolean = DecimalType.is32BitDecimalType(t)

  /** Whether a vector stores longs: decimals of 10 to 18 digits, or unsigned ints, which Spark reads as longs. */
  private def isLong(t: DataType): Boolean = !isInt(t) && DecimalType.is64BitDecimalType(t) || t == LongType

  private def longs(vector: WritableColumnVector, t: DataType): PrimitiveConverter =
    if (t == LongType) new Ints(v => vector.appendLong(Integer.toUnsignedLong(v)))
    else new Ints(v => vector.appendLong(v.toLong))

  private def appendBytes(bytes: Array[Byte], vector: WritableColumnVector): Int =
    vector.appendByteArray(bytes, 0, bytes.length)

  private def unscaled(value: Binary): BigInteger = new BigInteger(value.getBytesUnsafe)

  /**
   * Converts an INT96 timestamp to microseconds since 1970. An INT96 timestamp contains the nanoseconds of the day and
   * the Julian day number.
   */
  private def micros(value: Binary): Long = {
    val bytes = value.toByteBuffer.order(ByteOrder.LITTLE_ENDIAN)
    val offset = bytes.position()
    DateTimeUtils.fromJulianDay(bytes.getInt(offset + 8), bytes.getLong(offset))
  }

  final private class Booleans(vector: WritableColumnVector) extends PrimitiveConverter {
    override def addBoolean(value: Boolean): Unit = {
      vector.appendBoolean(value)
      ()
    }
  }

  final private class Ints(append: Int => Int) extends PrimitiveConverter {
    override def addInt(value: Int): Unit = {
      append(value)
      ()
    }
  }

  final private class Longs(append: Long => Int) extends PrimitiveConverter {
    override def addLong(value: Long): Unit = {
      append(value)
      ()
    }
  }

  final private class Floats(vector: WritableColumnVector) extends PrimitiveConverter {
    override def addFloat(value: Float): Unit = {
      vector.appendFloat(value)
      ()
    }
  }

  final private class Doubles(vector: WritableColumnVector) extends PrimitiveConverter {
    override def addDouble(value: Double): Unit = {
      vector.appendDouble(value)
      ()
    }
  }

  final private class Binaries(append: Binary => Int) extends PrimitiveConverter {
    override def addBinary(value: Binary): Unit = {
      append(value)
      ()
    }
  }
}
