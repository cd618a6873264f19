package iceberglite.data.parquet

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.UUID

import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.{INT32, INT64}

import iceberglite.data.{FieldChecks, RecordSource}
import iceberglite.data.parquet.shred.{LeafColumn, LeafShredder}
import iceberglite.metrics.{CollectedValues, DoubleCollector, FloatCollector, SpatialCollector}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type._

/** Writes primitive values of records to one column of the file. */
abstract private[parquet] class RecordLeaf(target: LeafColumn)
    extends LeafShredder[Array[AnyRef]](target, RecordSource)

private[parquet] object RecordLeaf {
  def of(f: NestedField, column: LeafColumn): RecordLeaf = f.fieldType match {
    case BooleanType => new RecordBooleanLeaf(column)
    case IntType | DateType => new RecordIntLeaf(column)
    case LongType | TimeType | TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType =>
      new RecordLongLeaf(column)
    case FloatType => new RecordFloatLeaf(column)
    case DoubleType => new RecordDoubleLeaf(column)
    case decimal: DecimalType => new RecordDecimalLeaf(column, decimal)
    case StringType => new RecordTextLeaf(column)
    case UuidType => new RecordUuidLeaf(column)
    case fixed: FixedType => new RecordBytesLeaf(column, Some(fixed))
    case BinaryType => new RecordBytesLeaf(column, None)
    case t: GeometryType => new RecordGeometryLeaf(column, new SpatialCollector(t))
    case t: GeographyType => new RecordGeometryLeaf(column, new SpatialCollector(t))
    case other =>
      throw Unsupported(s"writing column ${column.name} of type $other as one column", "Report this: it is a bug")
  }
}

final private class RecordBooleanLeaf(target: LeafColumn) extends RecordLeaf(target) {
  override def write(values: Array[AnyRef], ordinal: Int, repetition: Int): Unit = {
    val value = values(ordinal)
    if (value == null) writeNull(repetition)
    else column.write(value.asInstanceOf[java.lang.Boolean].booleanValue, repetition, definition)
  }
}

final private class RecordIntLeaf(target: LeafColumn) extends RecordLeaf(target) {
  override def write(values: Array[AnyRef], ordinal: Int, repetition: Int): Unit = {
    val value = values(ordinal)
    if (value == null) writeNull(repetition)
    else column.write(value.asInstanceOf[Integer].intValue, repetition, definition)
  }
}

final private class RecordLongLeaf(target: LeafColumn) extends RecordLeaf(target) {
  override def write(values: Array[AnyRef], ordinal: Int, repetition: Int): Unit = {
    val value = values(ordinal)
    if (value == null) writeNull(repetition)
    else column.write(value.asInstanceOf[java.lang.Long].longValue, repetition, definition)
  }
}

final private class RecordFloatLeaf(target: LeafColumn) extends RecordLeaf(target) {
  private val range = new FloatCollector

  override def write(values: Array[AnyRef], ordinal: Int, repetition: Int): Unit = {
    val value = values(ordinal)
    if (value == null) writeNull(repetition)
    else {
      val number = value.asInstanceOf[java.lang.Float].floatValue
      range.add(number)
      column.write(number, repetition, definition)
    }
  }

  override def collected: Option[CollectedValues] = Some(range.values)
}

final private class RecordDoubleLeaf(target: LeafColumn) extends RecordLeaf(target) {
  private val range = new DoubleCollector

  override def write(values: Array[AnyRef], ordinal: Int, repetition: Int): Unit = {
    val value = values(ordinal)
    if (value == null) writeNull(repetition)
    else {
      val number = value.asInstanceOf[java.lang.Double].doubleValue
      range.add(number)
      column.write(number, repetition, definition)
    }
  }

  override def collected: Option[CollectedValues] = Some(range.values)
}

/** Writes decimals as an int, a long, or the number of bytes that the precision requires, sign-extended. */
final private class RecordDecimalLeaf(target: LeafColumn, t: DecimalType) extends RecordLeaf(target) {
  private val physical = target.descriptor.getPrimitiveType.getPrimitiveTypeName
  private val length = target.descriptor.getPrimitiveType.getTypeLength

  override def write(values: Array[AnyRef], ordinal: Int, repetition: Int): Unit = {
    val value = values(ordinal)
    if (value == null) writeNull(repetition)
    else {
      val unscaled = FieldChecks.decimal(t, value.asInstanceOf[BigDecimal], target.name).unscaledValue
      physical match {
        case INT32 => column.write(unscaled.intValue, repetition, definition)
        case INT64 => column.write(unscaled.longValue, repetition, definition)
        case _ => column.write(Binary.fromConstantByteArray(extended(unscaled.toByteArray)), repetition, definition)
      }
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

final private class RecordTextLeaf(target: LeafColumn) extends RecordLeaf(target) {
  override def write(values: Array[AnyRef], ordinal: Int, repetition: Int): Unit = {
    val value = values(ordinal)
    if (value == null) writeNull(repetition)
    else column.write(Binary.fromString(value.asInstanceOf[String]), repetition, definition)
  }
}

/** Writes UUIDs as sixteen bytes, big-endian. */
final private class RecordUuidLeaf(target: LeafColumn) extends RecordLeaf(target) {
  override def write(values: Array[AnyRef], ordinal: Int, repetition: Int): Unit = {
    val value = values(ordinal)
    if (value == null) writeNull(repetition)
    else {
      val uuid = value.asInstanceOf[UUID]
      val bytes = ByteBuffer.allocate(ReadValues.UuidSize)
      bytes.putLong(uuid.getMostSignificantBits).putLong(uuid.getLeastSignificantBits)
      column.write(Binary.fromConstantByteArray(bytes.array), repetition, definition)
    }
  }
}

/** Writes bytes. @param fixed the type, if the values of the column have a fixed length */
private class RecordBytesLeaf(target: LeafColumn, fixed: Option[FixedType]) extends RecordLeaf(target) {
  override def write(values: Array[AnyRef], ordinal: Int, repetition: Int): Unit = {
    val value = values(ordinal)
    if (value == null) writeNull(repetition)
    else {
      val bytes = value.asInstanceOf[ByteBuffer]
      fixed.foreach(FieldChecks.length(_, bytes, target.name))
      // The bytes are copied, because Parquet retains them until the page is written, and the caller may reuse its
      // buffer.
      val copy = new Array[Byte](bytes.remaining)
      bytes.duplicate().get(copy)
      column.write(Binary.fromConstantByteArray(copy), repetition, definition)
    }
  }
}

/** Writes values of types geometry and geography after a check. */
final private class RecordGeometryLeaf(target: LeafColumn, collector: SpatialCollector)
    extends RecordBytesLeaf(target, None) {
  override def write(values: Array[AnyRef], ordinal: Int, repetition: Int): Unit = {
    val value = values(ordinal)
    if (value != null) collector.add(value.asInstanceOf[ByteBuffer], target.name)
    super.write(values, ordinal, repetition)
  }

  override def collected: Option[CollectedValues] = Some(collector.values)
}
