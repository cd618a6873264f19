package iceberglite.spark.write.parquet

import org.apache.parquet.column.{ColumnDescriptor, ColumnWriteStore, ColumnWriter}
import org.apache.parquet.io.api.Binary
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

import iceberglite.metrics.{DoubleRange, FloatRange, FloatingValues}
import iceberglite.spark.write.files.{RowBytes, RowFaults, TimeOfDay, UuidText}

/**
 * Writes primitive values to one column of the file. Each kind of value has its own class with its own `write`, so that
 * writing a value needs only one virtual call.
 *
 * @param descriptor the column
 * @param fieldId the field id of the column in the table
 */
abstract private[parquet] class LeafWriter(
    val descriptor: ColumnDescriptor,
    val fieldId: Int,
    name: String,
    optional: Boolean
) extends FieldWriter(name, optional, descriptor.getMaxDefinitionLevel) {

  /** The column of the current row group. */
  protected var column: ColumnWriter = _

  /** Switches to the column of the next row group. */
  def attach(store: ColumnWriteStore): Unit = column = store.getColumnWriter(descriptor)

  /** The floating-point statistics of the written values; absent for other types. */
  def floating: Option[FloatingValues] = None

  final override def writeAbsent(repetition: Int, level: Int): Unit = column.writeNull(repetition, level)

  final override def leaves: Vector[LeafWriter] = Vector(this)
}

final private[parquet] class ParquetBooleanLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends LeafWriter(d, id, name, optional) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(values.getBoolean(ordinal), repetition, definition)
}

final private[parquet] class ParquetByteLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends LeafWriter(d, id, name, optional) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(values.getByte(ordinal).toInt, repetition, definition)
}

final private[parquet] class ParquetShortLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends LeafWriter(d, id, name, optional) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(values.getShort(ordinal).toInt, repetition, definition)
}

final private[parquet] class ParquetIntLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends LeafWriter(d, id, name, optional) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(values.getInt(ordinal), repetition, definition)
}

final private[parquet] class ParquetLongLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends LeafWriter(d, id, name, optional) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(values.getLong(ordinal), repetition, definition)
}

final private[parquet] class ParquetTimeLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends LeafWriter(d, id, name, optional) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(TimeOfDay.checked(values.getLong(ordinal), name), repetition, definition)
}

final private[parquet] class ParquetFloatLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends LeafWriter(d, id, name, optional) {
  private val range = new FloatRange

  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else {
      val value = values.getFloat(ordinal)
      range.add(value)
      column.write(value, repetition, definition)
    }

  override def floating: Option[FloatingValues] = Some(range.values)
}

final private[parquet] class ParquetDoubleLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends LeafWriter(d, id, name, optional) {
  private val range = new DoubleRange

  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else {
      val value = values.getDouble(ordinal)
      range.add(value)
      column.write(value, repetition, definition)
    }

  override def floating: Option[FloatingValues] = Some(range.values)
}

/** Writes decimals of up to 9 digits, as ints. */
final private[parquet] class ParquetIntDecimalLeaf(
    d: ColumnDescriptor,
    id: Int,
    name: String,
    optional: Boolean,
    precision: Int,
    scale: Int
) extends LeafWriter(d, id, name, optional) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(values.getDecimal(ordinal, precision, scale).toUnscaledLong.toInt, repetition, definition)
}

/** Writes decimals of up to 18 digits, as longs. */
final private[parquet] class ParquetLongDecimalLeaf(
    d: ColumnDescriptor,
    id: Int,
    name: String,
    optional: Boolean,
    precision: Int,
    scale: Int
) extends LeafWriter(d, id, name, optional) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(values.getDecimal(ordinal, precision, scale).toUnscaledLong, repetition, definition)
}

/** Writes decimals of more than 18 digits, sign-extended to the number of bytes that their precision requires. */
final private[parquet] class ParquetBytesDecimalLeaf(
    d: ColumnDescriptor,
    id: Int,
    name: String,
    optional: Boolean,
    precision: Int,
    scale: Int
) extends LeafWriter(d, id, name, optional) {
  private val bytes = new Array[Byte](d.getPrimitiveType.getTypeLength)
  private val binary = Binary.fromReusedByteArray(bytes)

  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else {
      val unscaled = values.getDecimal(ordinal, precision, scale).toJavaBigDecimal.unscaledValue.toByteArray
      val start = bytes.length - unscaled.length
      java.util.Arrays.fill(bytes, 0, start, (if (unscaled(0) < 0) -1 else 0).toByte)
      System.arraycopy(unscaled, 0, bytes, start, unscaled.length)
      column.write(binary, repetition, definition)
    }
}

final private[parquet] class ParquetStringLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends LeafWriter(d, id, name, optional) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else {
      val text = values.getUTF8String(ordinal)
      // `binary` refers to the bytes of the row without copying them. Parquet copies the bytes that it stores.
      val binary = Binary.fromReusedByteArray(RowBytes.array(text), RowBytes.offset(text), text.numBytes)
      column.write(binary, repetition, definition)
    }
}

final private[parquet] class ParquetBinaryLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends LeafWriter(d, id, name, optional) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(Binary.fromReusedByteArray(values.getBinary(ordinal)), repetition, definition)
}

final private[parquet] class ParquetFixedLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends LeafWriter(d, id, name, optional) {
  private val length = d.getPrimitiveType.getTypeLength

  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else {
      val bytes = values.getBinary(ordinal)
      RowFaults.checkLength(bytes, length, name)
      column.write(Binary.fromReusedByteArray(bytes), repetition, definition)
    }
}

/** Converts the text of a UUID to 16 bytes, with the most significant byte first. */
final private[parquet] class ParquetUuidLeaf(d: ColumnDescriptor, id: Int, name: String, optional: Boolean)
    extends LeafWriter(d, id, name, optional) {
  private val bytes = new Array[Byte](d.getPrimitiveType.getTypeLength)
  private val buffer = java.nio.ByteBuffer.wrap(bytes)
  private val binary = Binary.fromReusedByteArray(bytes)

  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else {
      val uuid = UuidText.parse(values.getUTF8String(ordinal), name)
      buffer.putLong(0, uuid.getMostSignificantBits).putLong(8, uuid.getLeastSignificantBits)
      column.write(binary, repetition, definition)
    }
}
