package iceberglite.data.parquet

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.UUID

import org.apache.parquet.column.{ColumnDescriptor, ColumnWriteStore, ColumnWriter}
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.{INT32, INT64}

import iceberglite.data.FieldChecks
import iceberglite.metrics.{DoubleRange, FloatRange, FloatingValues}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.types.PrimitiveType
import iceberglite.spec.types.Type._

/**
 * Writes primitive values to one column of the file.
 *
 * @param fieldId field id of the column
 */
abstract private[parquet] class RecordLeaf(
    descriptor: ColumnDescriptor,
    val fieldId: Int,
    name: String,
    optional: Boolean
) extends RecordField(name, optional, descriptor.getMaxDefinitionLevel) {

  /** The column writer of the current row group. */
  protected var column: ColumnWriter = _

  def attach(store: ColumnWriteStore): Unit = column = store.getColumnWriter(descriptor)

  /** The metrics of a floating point column; absent for other columns. */
  def floating: Option[FloatingValues] = None

  final override def writeAbsent(repetition: Int, level: Int): Unit = column.writeNull(repetition, level)

  final override def leaves: Vector[RecordLeaf] = Vector(this)
}

private[parquet] object RecordLeaf {
  def of(d: ColumnDescriptor, id: Int, t: PrimitiveType, name: String, optional: Boolean): RecordLeaf = t match {
    case BooleanType => new RecordBooleanLeaf(d, id, name, optional)
    case IntType | DateType => new RecordIntLeaf(d, id, name, optional)
    case LongType | TimeType | TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType =>
      new RecordLongLeaf(d, id, name, optional)
    case FloatType => new RecordFloatLeaf(d, id, name, optional)
    case DoubleType => new RecordDoubleLeaf(d, id, name, optional)
    case decimal: DecimalType => new RecordDecimalLeaf(d, id, name, optional, decimal)
    case StringType => new RecordTextLeaf(d, id, name, optional)
    case UuidType => new RecordUuidLeaf(d, id, name, optional)
    case fixed: FixedType => new RecordBytesLeaf(d, id, name, optional, Some(fixed))
    case BinaryType | _: GeometryType | _: GeographyType => new RecordBytesLeaf(d, id, name, optional, None)
    case UnknownType | VariantType =>
      throw Unsupported(s"writing column $name of type $t as one column", "Report this: it is a bug")
  }
}

final private class RecordBooleanLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends RecordLeaf(d, id, name, optional) {
  override protected def writeValue(value: AnyRef, repetition: Int): Unit =
    column.write(value.asInstanceOf[java.lang.Boolean].booleanValue, repetition, definition)
}

final private class RecordIntLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends RecordLeaf(d, id, name, optional) {
  override protected def writeValue(value: AnyRef, repetition: Int): Unit =
    column.write(value.asInstanceOf[Integer].intValue, repetition, definition)
}

final private class RecordLongLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends RecordLeaf(d, id, name, optional) {
  override protected def writeValue(value: AnyRef, repetition: Int): Unit =
    column.write(value.asInstanceOf[java.lang.Long].longValue, repetition, definition)
}

final private class RecordFloatLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends RecordLeaf(d, id, name, optional) {
  private val range = new FloatRange

  override protected def writeValue(value: AnyRef, repetition: Int): Unit = {
    val number = value.asInstanceOf[java.lang.Float].floatValue
    range.add(number)
    column.write(number, repetition, definition)
  }

  override def floating: Option[FloatingValues] = Some(range.values)
}

final private class RecordDoubleLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends RecordLeaf(d, id, name, optional) {
  private val range = new DoubleRange

  override protected def writeValue(value: AnyRef, repetition: Int): Unit = {
    val number = value.asInstanceOf[java.lang.Double].doubleValue
    range.add(number)
    column.write(number, repetition, definition)
  }

  override def floating: Option[FloatingValues] = Some(range.values)
}

/** Writes decimals as an int, a long, or the number of bytes that the precision requires, sign-extended. */
final private class RecordDecimalLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean, t: DecimalType)
    extends RecordLeaf(d, id, name, optional) {
  private val physical = d.getPrimitiveType.getPrimitiveTypeName
  private val length = d.getPrimitiveType.getTypeLength

  override protected def writeValue(value: AnyRef, repetition: Int): Unit = {
    val unscaled = FieldChecks.decimal(t, value.asInstanceOf[BigDecimal], name).unscaledValue
    physical match {
      case INT32 => column.write(unscaled.intValue, repetition, definition)
      case INT64 => column.write(unscaled.longValue, repetition, definition)
      case _ => column.write(Binary.fromConstantByteArray(extended(unscaled.toByteArray)), repetition, definition)
    }
  }

  private def extended(digits: Array[Byte]): Array[Byte] = {
    val bytes = new Array[Byte](length)
    val start = length - digits.length
    java.util.Arrays.fill(bytes, 0, start, (if (digits(0) < 0) -1 else 0).toByte)
    System.arraycopy(digits, 0, bytes, start, digits.length)
    bytes
  }
}

final private class RecordTextLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends RecordLeaf(d, id, name, optional) {
  override protected def writeValue(value: AnyRef, repetition: Int): Unit =
    column.write(Binary.fromString(value.asInstanceOf[String]), repetition, definition)
}

/** Writes UUIDs as sixteen bytes, big-endian. */
final private class RecordUuidLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends RecordLeaf(d, id, name, optional) {
  override protected def writeValue(value: AnyRef, repetition: Int): Unit = {
    val uuid = value.asInstanceOf[UUID]
    val bytes = ByteBuffer.allocate(ReadValues.UuidSize)
    bytes.putLong(uuid.getMostSignificantBits).putLong(uuid.getLeastSignificantBits)
    column.write(Binary.fromConstantByteArray(bytes.array), repetition, definition)
  }
}

/** Writes bytes. @param fixed the type, if the values of the column have a fixed length */
final private class RecordBytesLeaf(
    d: ColumnDescriptor,
    id: Int,
    name: String,
    optional: Boolean,
    fixed: Option[FixedType]
) extends RecordLeaf(d, id, name, optional) {
  override protected def writeValue(value: AnyRef, repetition: Int): Unit = {
    val bytes = value.asInstanceOf[ByteBuffer]
    fixed.foreach(FieldChecks.length(_, bytes, name))
    // The bytes are copied, because Parquet retains them until the page is written, and the caller may reuse its
    // buffer.
    val copy = new Array[Byte](bytes.remaining)
    bytes.duplicate().get(copy)
    column.write(Binary.fromConstantByteArray(copy), repetition, definition)
  }
}
