package iceberglite.spark.write.parquet

import org.apache.parquet.io.api.Binary
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

import iceberglite.data.parquet.shred.{LeafColumn, LeafShredder}
import iceberglite.metrics.{CollectedValues, DoubleCollector, FloatCollector, SpatialCollector}
import iceberglite.spark.write.files.{RowBytes, RowFaults, SparkRowSource, TimeOfDay, UuidText}

/** Writes primitive values of Spark's rows to one column of the file. */
abstract private[parquet] class LeafWriter(target: LeafColumn)
    extends LeafShredder[SpecializedGetters](target, SparkRowSource)

final private[parquet] class ParquetBooleanLeaf(target: LeafColumn) extends LeafWriter(target) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(values.getBoolean(ordinal), repetition, definition)
}

final private[parquet] class ParquetByteLeaf(target: LeafColumn) extends LeafWriter(target) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(values.getByte(ordinal).toInt, repetition, definition)
}

final private[parquet] class ParquetShortLeaf(target: LeafColumn) extends LeafWriter(target) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(values.getShort(ordinal).toInt, repetition, definition)
}

final private[parquet] class ParquetIntLeaf(target: LeafColumn) extends LeafWriter(target) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(values.getInt(ordinal), repetition, definition)
}

final private[parquet] class ParquetLongLeaf(target: LeafColumn) extends LeafWriter(target) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(values.getLong(ordinal), repetition, definition)
}

final private[parquet] class ParquetTimeLeaf(target: LeafColumn) extends LeafWriter(target) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(TimeOfDay.checked(values.getLong(ordinal), target.name), repetition, definition)
}

final private[parquet] class ParquetFloatLeaf(target: LeafColumn) extends LeafWriter(target) {
  private val range = new FloatCollector

  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else {
      val value = values.getFloat(ordinal)
      range.add(value)
      column.write(value, repetition, definition)
    }

  override def collected: Option[CollectedValues] = Some(range.values)
}

final private[parquet] class ParquetDoubleLeaf(target: LeafColumn) extends LeafWriter(target) {
  private val range = new DoubleCollector

  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else {
      val value = values.getDouble(ordinal)
      range.add(value)
      column.write(value, repetition, definition)
    }

  override def collected: Option[CollectedValues] = Some(range.values)
}

/** Writes decimals of up to 9 digits, as ints. */
final private[parquet] class ParquetIntDecimalLeaf(target: LeafColumn, precision: Int, scale: Int)
    extends LeafWriter(target) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(values.getDecimal(ordinal, precision, scale).toUnscaledLong.toInt, repetition, definition)
}

/** Writes decimals of up to 18 digits, as longs. */
final private[parquet] class ParquetLongDecimalLeaf(target: LeafColumn, precision: Int, scale: Int)
    extends LeafWriter(target) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(values.getDecimal(ordinal, precision, scale).toUnscaledLong, repetition, definition)
}

/** Writes decimals of more than 18 digits, sign-extended to the number of bytes that their precision requires. */
final private[parquet] class ParquetBytesDecimalLeaf(target: LeafColumn, precision: Int, scale: Int)
    extends LeafWriter(target) {
  private val bytes = new Array[Byte](target.descriptor.getPrimitiveType.getTypeLength)
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

final private[parquet] class ParquetStringLeaf(target: LeafColumn) extends LeafWriter(target) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else {
      val text = values.getUTF8String(ordinal)
      // `binary` refers to the bytes of the row without copying them. Parquet copies the bytes that it stores.
      val binary = Binary.fromReusedByteArray(RowBytes.array(text), RowBytes.offset(text), text.numBytes)
      column.write(binary, repetition, definition)
    }
}

final private[parquet] class ParquetBinaryLeaf(target: LeafColumn) extends LeafWriter(target) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else column.write(Binary.fromReusedByteArray(values.getBinary(ordinal)), repetition, definition)
}

/** Writes values of types geometry and geography. @param isChecked whether a value that is not WKB is an error */
final private[parquet] class ParquetGeometryLeaf(target: LeafColumn, collector: SpatialCollector, isChecked: Boolean)
    extends LeafWriter(target) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else {
      val wkb = values.getBinary(ordinal)
      collector.add(java.nio.ByteBuffer.wrap(wkb), target.name, isChecked)
      column.write(Binary.fromReusedByteArray(wkb), repetition, definition)
    }

  override def collected: Option[CollectedValues] = Some(collector.values)
}

final private[parquet] class ParquetFixedLeaf(target: LeafColumn) extends LeafWriter(target) {
  private val length = target.descriptor.getPrimitiveType.getTypeLength

  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else {
      val bytes = values.getBinary(ordinal)
      RowFaults.checkLength(bytes, length, target.name)
      column.write(Binary.fromReusedByteArray(bytes), repetition, definition)
    }
}

/** Converts the text of a UUID to 16 bytes, with the most significant byte first. */
final private[parquet] class ParquetUuidLeaf(target: LeafColumn) extends LeafWriter(target) {
  private val bytes = new Array[Byte](target.descriptor.getPrimitiveType.getTypeLength)
  private val buffer = java.nio.ByteBuffer.wrap(bytes)
  private val binary = Binary.fromReusedByteArray(bytes)

  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else {
      val uuid = UuidText.parse(values.getUTF8String(ordinal), target.name)
      buffer.putLong(0, uuid.getMostSignificantBits).putLong(8, uuid.getLeastSignificantBits)
      column.write(binary, repetition, definition)
    }
}
