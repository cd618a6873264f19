package iceberglite.data.parquet

import org.apache.parquet.io.api.{Binary, Converter, PrimitiveConverter}
import org.apache.parquet.column.Dictionary
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.{LogicalTypeAnnotation, PrimitiveType => ParquetPrimitive, Type => ParquetType}

import iceberglite.parquet.ParquetAnnotations.{isInteger, isText, isUnsigned32}
import iceberglite.spec.types.PrimitiveType
import iceberglite.spec.types.Type._

/**
 * The read plan of one node of a file's schema.
 *
 * @param requested the part of the node that is read
 * @param converter creates the converter that passes the values of the node to a slot
 */
final private[parquet] case class ColumnReader(requested: ParquetType, converter: ValueReceiver => Converter)

/**
 * Maps Parquet's physical and logical types to the column types of a table (spec: "Parquet", and the promotions of
 * "Schema Evolution").
 */
private[parquet] object ColumnReader {

  /**
   * Returns the read plan of a primitive column.
   *
   * @param fail throws an error with the given reason; called if a value is not valid for the expected type
   * @return absent if the file's type cannot be read as the expected type
   */
  def of(file: ParquetPrimitive, expected: PrimitiveType, fail: String => Nothing): Option[ColumnReader] =
    converter(file, expected, fail).map(ColumnReader(file, _))

  private type ConverterFactory = Option[ValueReceiver => PrimitiveConverter]

  private def converter(file: ParquetPrimitive, expected: PrimitiveType, fail: String => Nothing): ConverterFactory = {
    val logical = Option(file.getLogicalTypeAnnotation)
    (expected, file.getPrimitiveTypeName) match {
      case (BooleanType, BOOLEAN) => Some(new BooleanConverter(_))
      case (IntType, INT32) if isInteger(logical, 32) => Some(new SameIntConverter(_))
      case (LongType, INT32) if isInteger(logical, 32) => ints(v => Long.box(v.toLong))
      case (LongType, INT32) if isUnsigned32(logical) => ints(v => Long.box(Integer.toUnsignedLong(v)))
      case (LongType, INT64) if isInteger(logical, 64) => Some(new SameLongConverter(_))
      case (FloatType, FLOAT) => Some(new FloatConverter(_, v => Float.box(v)))
      case (DoubleType, FLOAT) => Some(new FloatConverter(_, v => Double.box(v.toDouble)))
      case (DoubleType, DOUBLE) => Some(new DoubleConverter(_))
      case (t: DecimalType, _) =>
        logical.collect { case d: DecimalLogicalTypeAnnotation => d }.flatMap(decimal(file, _, t))
      case (DateType, INT32) if logical.forall(_.isInstanceOf[DateLogicalTypeAnnotation]) =>
        Some(new SameIntConverter(_))
      case (TimeType, _) => time(file, logical)
      case (TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType, _) =>
        timestamp(file, logical, expected, fail)
      case _ => bytes(file, logical, expected)
    }
  }

  private def ints(box: Int => AnyRef): ConverterFactory = Some(new IntConverter(_, box))

  private def longs(box: Long => AnyRef): ConverterFactory = Some(new LongConverter(_, box))

  private def bytes(
      file: ParquetPrimitive,
      logical: Option[LogicalTypeAnnotation],
      expected: PrimitiveType
  ): ConverterFactory =
    (expected, file.getPrimitiveTypeName) match {
      case (StringType, BINARY) if logical.forall(isText) => binaries(ReadValues.text)
      case (UuidType, FIXED_LEN_BYTE_ARRAY) if file.getTypeLength == ReadValues.UuidSize => binaries(ReadValues.uuid)
      case (FixedType(length), FIXED_LEN_BYTE_ARRAY) if file.getTypeLength == length => binaries(ReadValues.buffer)
      case (BinaryType, BINARY | FIXED_LEN_BYTE_ARRAY) => binaries(ReadValues.buffer)
      case (_: GeometryType | _: GeographyType, BINARY) => binaries(ReadValues.buffer)
      case _ => None
    }

  private def binaries(convert: Binary => AnyRef): ConverterFactory = Some(new BinaryConverter(_, convert))

  private def decimal(
      file: ParquetPrimitive,
      d: DecimalLogicalTypeAnnotation,
      expected: DecimalType
  ): ConverterFactory =
    if (d.getScale != expected.scale || d.getPrecision > expected.precision) None
    else file.getPrimitiveTypeName match {
      case INT32 => ints(v => java.math.BigDecimal.valueOf(v.toLong, expected.scale))
      case INT64 => longs(v => java.math.BigDecimal.valueOf(v, expected.scale))
      case BINARY | FIXED_LEN_BYTE_ARRAY => binaries(ReadValues.decimal(_, expected.scale))
      case _ => None
    }

  private def time(file: ParquetPrimitive, logical: Option[LogicalTypeAnnotation]): ConverterFactory =
    (file.getPrimitiveTypeName, logical) match {
      case (INT64, None) => Some(new SameLongConverter(_))
      case (INT64, Some(t: TimeLogicalTypeAnnotation)) if t.getUnit == TimeUnit.MICROS => Some(new SameLongConverter(_))
      case (INT32, Some(t: TimeLogicalTypeAnnotation)) if t.getUnit == TimeUnit.MILLIS =>
        ints(v => Long.box(v * 1000L))
      case _ => None
    }

  private def timestamp(
      file: ParquetPrimitive,
      logical: Option[LogicalTypeAnnotation],
      expected: PrimitiveType,
      fail: String => Nothing
  ): ConverterFactory = {
    def exact(value: Any, converted: => Long): AnyRef =
      try Long.box(converted)
      catch { case _: ArithmeticException => fail(s"The value $value is out of the range of the type $expected") }
    val nanos = expected == TimestampNsType || expected == TimestampTzNsType
    (file.getPrimitiveTypeName, logical) match {
      case (INT64, None) => Some(new SameLongConverter(_))
      case (INT64, Some(t: TimestampLogicalTypeAnnotation)) =>
        t.getUnit match {
          case TimeUnit.NANOS => if (nanos) Some(new SameLongConverter(_)) else None
          case TimeUnit.MICROS => if (nanos) None else Some(new SameLongConverter(_))
          case TimeUnit.MILLIS => if (nanos) None else longs(v => exact(v, Math.multiplyExact(v, 1000L)))
        }
      // INT96 occurs only in imported files.
      case (INT96, _) => binaries(v => exact(v, ReadValues.int96(v, nanos)))
      case (INT32, Some(_: DateLogicalTypeAnnotation)) =>
        expected match {
          case TimestampType | TimestampNsType => ints(days => exact(days, ReadValues.startOfDay(days, nanos)))
          case _ => None
        }
      case _ => None
    }
  }
}

final private class BooleanConverter(slot: ValueReceiver) extends PrimitiveConverter {
  override def addBoolean(value: Boolean): Unit = slot.set(Boolean.box(value))
}

/** Passes integers without conversion. A function from `Int` to an object would box them twice. */
final private class SameIntConverter(slot: ValueReceiver) extends PrimitiveConverter {
  override def addInt(value: Int): Unit = slot.set(Int.box(value))
}

/** Passes longs without conversion. */
final private class SameLongConverter(slot: ValueReceiver) extends PrimitiveConverter {
  override def addLong(value: Long): Unit = slot.set(Long.box(value))
}

final private class IntConverter(slot: ValueReceiver, box: Int => AnyRef) extends PrimitiveConverter {
  override def addInt(value: Int): Unit = slot.set(box(value))
}

final private class LongConverter(slot: ValueReceiver, box: Long => AnyRef) extends PrimitiveConverter {
  override def addLong(value: Long): Unit = slot.set(box(value))
}

final private class FloatConverter(slot: ValueReceiver, box: Float => AnyRef) extends PrimitiveConverter {
  override def addFloat(value: Float): Unit = slot.set(box(value))
}

final private class DoubleConverter(slot: ValueReceiver) extends PrimitiveConverter {
  override def addDouble(value: Double): Unit = slot.set(Double.box(value))
}

/** Converts binary values. Each dictionary entry is converted only once. */
final private class BinaryConverter(slot: ValueReceiver, convert: Binary => AnyRef) extends PrimitiveConverter {
  private var entries: Array[AnyRef] = Array.empty

  override def addBinary(value: Binary): Unit = slot.set(convert(value))

  override def hasDictionarySupport: Boolean = true

  override def setDictionary(dictionary: Dictionary): Unit =
    entries = Array.tabulate(dictionary.getMaxId + 1)(i => convert(dictionary.decodeToBinary(i)))

  override def addValueFromDictionary(id: Int): Unit = slot.set(entries(id))
}
