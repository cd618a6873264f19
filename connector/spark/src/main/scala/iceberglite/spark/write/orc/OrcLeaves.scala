package iceberglite.spark.write.orc

import java.nio.ByteBuffer

import org.apache.hadoop.hive.common.`type`.HiveDecimal
import org.apache.hadoop.hive.ql.exec.vector._
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

import iceberglite.avro.AvroSchemas
import iceberglite.data.orc.OrcTimestamp
import iceberglite.spark.write.files.{RowBytes, RowFaults, TimeOfDay, UuidText}
import iceberglite.spark.write.metrics._
import iceberglite.spec.types.Type.DecimalType

/**
 * Puts the values of a primitive column into the column's vector. Each kind of value has its own class with its own
 * `put`, so that writing a value needs only one virtual call.
 */
abstract private[orc] class OrcLeafWriter(name: String, required: Boolean, vector: ColumnVector, tally: ColumnTally)
    extends OrcStoredField(name, required, vector) {
  final override def countAbsent(): Unit = tally.addNull()
}

final private[orc] class OrcBooleanLeaf(name: String, required: Boolean, vector: LongColumnVector, tally: LongTally)
    extends OrcLeafWriter(name, required, vector, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = if (values.getBoolean(ordinal)) 1L else 0L
    tally.add(value)
    vector.vector(slot) = value
  }
}

final private[orc] class OrcByteLeaf(name: String, required: Boolean, vector: LongColumnVector, tally: LongTally)
    extends OrcLeafWriter(name, required, vector, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getByte(ordinal).toLong
    tally.add(value)
    vector.vector(slot) = value
  }
}

final private[orc] class OrcShortLeaf(name: String, required: Boolean, vector: LongColumnVector, tally: LongTally)
    extends OrcLeafWriter(name, required, vector, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getShort(ordinal).toLong
    tally.add(value)
    vector.vector(slot) = value
  }
}

final private[orc] class OrcIntLeaf(name: String, required: Boolean, vector: LongColumnVector, tally: LongTally)
    extends OrcLeafWriter(name, required, vector, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getInt(ordinal).toLong
    tally.add(value)
    vector.vector(slot) = value
  }
}

final private[orc] class OrcLongLeaf(name: String, required: Boolean, vector: LongColumnVector, tally: LongTally)
    extends OrcLeafWriter(name, required, vector, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getLong(ordinal)
    tally.add(value)
    vector.vector(slot) = value
  }
}

final private[orc] class OrcTimeLeaf(name: String, required: Boolean, vector: LongColumnVector, tally: LongTally)
    extends OrcLeafWriter(name, required, vector, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = TimeOfDay.checked(values.getLong(ordinal), name)
    tally.add(value)
    vector.vector(slot) = value
  }
}

final private[orc] class OrcTimestampLeaf(
    name: String,
    required: Boolean,
    vector: TimestampColumnVector,
    tally: LongTally,
    unitsPerSecond: Long
) extends OrcLeafWriter(name, required, vector, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getLong(ordinal)
    tally.add(value)
    OrcTimestamp.put(vector, slot, value, unitsPerSecond, name)
  }
}

final private[orc] class OrcFloatLeaf(name: String, required: Boolean, vector: DoubleColumnVector, tally: FloatTally)
    extends OrcLeafWriter(name, required, vector, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getFloat(ordinal)
    tally.add(value)
    vector.vector(slot) = value.toDouble
  }
}

final private[orc] class OrcDoubleLeaf(name: String, required: Boolean, vector: DoubleColumnVector, tally: DoubleTally)
    extends OrcLeafWriter(name, required, vector, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getDouble(ordinal)
    tally.add(value)
    vector.vector(slot) = value
  }
}

/** Puts decimals of up to 18 digits, as longs. */
final private[orc] class OrcLongDecimalLeaf(
    name: String,
    required: Boolean,
    vector: Decimal64ColumnVector,
    tally: LongTally,
    t: DecimalType
) extends OrcLeafWriter(name, required, vector, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getDecimal(ordinal, t.precision, t.scale).toUnscaledLong
    tally.add(value)
    vector.vector(slot) = value
  }
}

final private[orc] class OrcDecimalLeaf(
    name: String,
    required: Boolean,
    vector: DecimalColumnVector,
    tally: DecimalTally,
    t: DecimalType
) extends OrcLeafWriter(name, required, vector, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getDecimal(ordinal, t.precision, t.scale).toJavaBigDecimal
    tally.add(value)
    vector.vector(slot).set(HiveDecimal.create(value, false))
  }
}

/** Puts strings. The bytes are copied, because Spark reuses the row before the batch is written. */
final private[orc] class OrcStringLeaf(name: String, required: Boolean, vector: BytesColumnVector, tally: BytesTally)
    extends OrcLeafWriter(name, required, vector, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val text = values.getUTF8String(ordinal)
    val bytes = RowBytes.array(text)
    val offset = RowBytes.offset(text)
    tally.add(bytes, offset, text.numBytes)
    vector.setVal(slot, bytes, offset, text.numBytes)
  }
}

final private[orc] class OrcBinaryLeaf(name: String, required: Boolean, vector: BytesColumnVector, tally: BytesTally)
    extends OrcLeafWriter(name, required, vector, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val bytes = values.getBinary(ordinal)
    tally.add(bytes, 0, bytes.length)
    vector.setVal(slot, bytes, 0, bytes.length)
  }
}

final private[orc] class OrcFixedLeaf(
    name: String,
    required: Boolean,
    vector: BytesColumnVector,
    tally: BytesTally,
    length: Int
) extends OrcLeafWriter(name, required, vector, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val bytes = values.getBinary(ordinal)
    RowFaults.checkLength(bytes, length, name)
    tally.add(bytes, 0, length)
    vector.setVal(slot, bytes, 0, length)
  }
}

/** Converts the text of a UUID to 16 bytes, with the most significant byte first. */
final private[orc] class OrcUuidLeaf(name: String, required: Boolean, vector: BytesColumnVector, tally: BytesTally)
    extends OrcLeafWriter(name, required, vector, tally) {
  private val bytes = new Array[Byte](AvroSchemas.UuidSize)
  private val buffer = ByteBuffer.wrap(bytes)

  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val uuid = UuidText.parse(values.getUTF8String(ordinal), name)
    buffer.putLong(0, uuid.getMostSignificantBits).putLong(8, uuid.getLeastSignificantBits)
    tally.add(bytes, 0, bytes.length)
    vector.setVal(slot, bytes, 0, bytes.length)
  }
}
