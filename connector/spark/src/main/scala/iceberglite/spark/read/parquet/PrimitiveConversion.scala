package iceberglite.spark.read.parquet

import org.apache.parquet.schema.LogicalTypeAnnotation
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.{PrimitiveType => ParquetPrimitive}
import org.apache.spark.sql.types.{
  BinaryType => SparkBinary,
  BooleanType => SparkBoolean,
  DataType,
  DateType => SparkDate,
  Decimal,
  DecimalType => SparkDecimal,
  DoubleType => SparkDouble,
  FloatType => SparkFloat,
  IntegerType,
  LongType => SparkLong,
  StringType => SparkString,
  TimestampType => SparkTimestamp
}

import iceberglite.parquet.ParquetAnnotations.{isInteger, isText, isUnsigned32}
import iceberglite.spark.read.parquet.ColumnConversion.{AsIs, Converted}
import iceberglite.spark.read.vector.{
  DateAsMicros,
  DateAsNanos,
  DecimalAsDecimal,
  FloatAsDouble,
  IntAsLong,
  MillisAsMicros,
  UuidAsText
}
import iceberglite.spec.types.PrimitiveType
import iceberglite.spec.types.Type._

/**
 * Converts columns of Parquet's physical and logical types to columns of a table (spec: "Parquet", and the promotions
 * of "Schema Evolution").
 *
 * Spark's reader returns times of day, timestamps in nanoseconds and UUIDs as values of their physical types.
 * Timestamps in microseconds are read as bigints with the same values, because Spark would reject a file that differs
 * from the table in the UTC-adjusted flag.
 */
private[parquet] object PrimitiveConversion {

  /**
   * Returns the type in which Spark's reader reads the column, and the conversion of its values; absent if the type in
   * the file is not valid for the type in the table.
   */
  def of(file: ParquetPrimitive, expected: PrimitiveType): Option[(DataType, ColumnConversion)] = {
    val logical = Option(file.getLogicalTypeAnnotation)
    (expected, file.getPrimitiveTypeName) match {
      case (BooleanType, BOOLEAN) => readAs(SparkBoolean)
      case (IntType, INT32) if isInteger(logical, 32) => readAs(IntegerType)
      case (LongType, INT32) if isInteger(logical, 32) => readAs(IntegerType, new IntAsLong(_))
      case (LongType, INT32) if isUnsigned32(logical) => readAs(SparkLong)
      case (LongType, INT64) if isInteger(logical, 64) => readAs(SparkLong)
      case (FloatType, FLOAT) => readAs(SparkFloat)
      case (DoubleType, DOUBLE) => readAs(SparkDouble)
      case (DoubleType, FLOAT) => readAs(SparkFloat, new FloatAsDouble(_))
      case (t: DecimalType, _) =>
        logical.collect { case d: DecimalLogicalTypeAnnotation => d }.flatMap(decimal(file, _, t))
      case (DateType, INT32) if isDate(logical) => readAs(SparkDate)
      case (TimeType, INT64) if logical.forall(isTimeOf(TimeUnit.MICROS)) => readAs(SparkLong)
      case (TimeType, INT32) if logical.exists(isTimeOf(TimeUnit.MILLIS)) => readAs(IntegerType, new MillisAsMicros(_))
      case (TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType, physical) =>
        timestamp(physical, logical, expected)
      case (StringType, BINARY) if logical.forall(isText) => readAs(SparkString)
      case (UuidType, FIXED_LEN_BYTE_ARRAY) if file.getTypeLength == 16 => readAs(SparkBinary, new UuidAsText(_))
      case (FixedType(length), FIXED_LEN_BYTE_ARRAY) if file.getTypeLength == length => readAs(SparkBinary)
      case (BinaryType, BINARY | FIXED_LEN_BYTE_ARRAY) => readAs(SparkBinary)
      case (GeometryType(_) | GeographyType(_, _), BINARY) => readAs(SparkBinary)
      case _ => None
    }
  }

  /**
   * Returns the type in which Spark reads a column whose values are not used. Such a column is read to determine
   * whether its struct is null.
   */
  def physical(file: ParquetPrimitive): DataType = file.getPrimitiveTypeName match {
    case BOOLEAN => SparkBoolean
    case INT32 => IntegerType
    case INT64 => SparkLong
    case FLOAT => SparkFloat
    case DOUBLE => SparkDouble
    case INT96 => SparkTimestamp
    case BINARY | FIXED_LEN_BYTE_ARRAY => SparkBinary
  }

  private def readAs(dataType: DataType): Option[(DataType, ColumnConversion)] = Some((dataType, AsIs))

  private def readAs(
      dataType: DataType,
      convert: org.apache.spark.sql.vectorized.ColumnVector => org.apache.spark.sql.vectorized.ColumnVector
  ): Option[(DataType, ColumnConversion)] = Some((dataType, Converted(convert)))

  /**
   * Returns the type and the conversion of a decimal column. Spark's reader decodes a decimal by its physical type, and
   * returns it with the requested precision.
   */
  private def decimal(
      file: ParquetPrimitive,
      logical: DecimalLogicalTypeAnnotation,
      expected: DecimalType
  ): Option[(DataType, ColumnConversion)] = {
    val read = SparkDecimal(readPrecision(file, logical.getPrecision), logical.getScale)
    val tableDecimal = SparkDecimal(expected.precision, expected.scale)
    if (logical.getScale != expected.scale || logical.getPrecision > expected.precision) None
    else if (sizeOf(read) == sizeOf(tableDecimal)) readAs(read)
    else readAs(read, new DecimalAsDecimal(_, read, tableDecimal))
  }

  /**
   * Returns the precision with which Spark's reader reads a decimal. For variable-length bytes, the precision is
   * increased, because the reader does not support them for decimals that fit a long.
   */
  private def readPrecision(file: ParquetPrimitive, precision: Int): Int =
    if (file.getPrimitiveTypeName == BINARY) math.max(precision, Decimal.MAX_LONG_DIGITS + 1) else precision

  private def sizeOf(t: SparkDecimal): Int =
    if (SparkDecimal.is32BitDecimalType(t)) 4 else if (SparkDecimal.is64BitDecimalType(t)) 8 else 16

  private def timestamp(
      physical: PrimitiveTypeName,
      logical: Option[LogicalTypeAnnotation],
      expected: PrimitiveType
  ): Option[(DataType, ColumnConversion)] = {
    val nanos = expected == TimestampNsType || expected == TimestampTzNsType
    (physical, logical) match {
      case (INT64, None) => readAs(SparkLong)
      case (INT64, Some(t: TimestampLogicalTypeAnnotation)) =>
        t.getUnit match {
          case TimeUnit.NANOS => if (nanos) readAs(SparkLong) else None
          case TimeUnit.MICROS => if (nanos) None else readAs(SparkLong)
          case TimeUnit.MILLIS => if (nanos) None else readAs(SparkTimestamp)
        }
      // INT96 occurs only in imported files. Spark converts it to microseconds.
      case (INT96, _) if !nanos => readAs(SparkTimestamp)
      case (INT32, _) if logical.isDefined && isDate(logical) =>
        expected match {
          case TimestampType => readAs(SparkDate, new DateAsMicros(_))
          case TimestampNsType => readAs(SparkDate, new DateAsNanos(_))
          case _ => None
        }
      case _ => None
    }
  }

  private def isDate(logical: Option[LogicalTypeAnnotation]): Boolean =
    logical.forall(_.isInstanceOf[DateLogicalTypeAnnotation])

  private def isTimeOf(unit: TimeUnit)(logical: LogicalTypeAnnotation): Boolean = logical match {
    case t: TimeLogicalTypeAnnotation => t.getUnit == unit
    case _ => false
  }
}
