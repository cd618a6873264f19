package iceberglite.spark.write.orc

import java.nio.ByteBuffer

import org.apache.hadoop.hive.common.`type`.HiveDecimal
import org.apache.hadoop.hive.ql.exec.vector._
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

import iceberglite.avro.AvroSchemas
import iceberglite.data.orc.{OrcPlace, OrcStoredField, OrcTimestamp}
import iceberglite.spark.write.files.{RowBytes, RowFaults, SparkRowSource, TimeOfDay, UuidText}
import iceberglite.spark.write.metrics._
import iceberglite.spec.types.Type.DecimalType

/**
 * Puts the values of a primitive column into the column's vector. Each kind of value has its own class with its own
 * `put`, so that writing a value needs only one virtual call.
 */
abstract private[orc] class OrcLeafWriter(place: OrcPlace, tally: ColumnTally)
    extends OrcStoredField[SpecializedGetters](place, SparkRowSource) {

  /** Puts a null into the vector if the value is null. @return whether the value is not null */
  final protected def isPresent(values: SpecializedGetters, ordinal: Int, slot: Int): Boolean =
    if (!values.isNullAt(ordinal)) true
    else {
      putNull(slot)
      false
    }

  final override def countAbsent(): Unit = tally.addNull()
}

final private[orc] class OrcBooleanLeaf(place: OrcPlace, vector: LongColumnVector, tally: LongTally)
    extends OrcLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = if (values.getBoolean(ordinal)) 1L else 0L
    tally.add(value)
    vector.vector(slot) = value
  }
}

final private[orc] class OrcByteLeaf(place: OrcPlace, vector: LongColumnVector, tally: LongTally)
    extends OrcLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getByte(ordinal).toLong
    tally.add(value)
    vector.vector(slot) = value
  }
}

final private[orc] class OrcShortLeaf(place: OrcPlace, vector: LongColumnVector, tally: LongTally)
    extends OrcLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getShort(ordinal).toLong
    tally.add(value)
    vector.vector(slot) = value
  }
}

final private[orc] class OrcIntLeaf(place: OrcPlace, vector: LongColumnVector, tally: LongTally)
    extends OrcLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getInt(ordinal).toLong
    tally.add(value)
    vector.vector(slot) = value
  }
}

final private[orc] class OrcLongLeaf(place: OrcPlace, vector: LongColumnVector, tally: LongTally)
    extends OrcLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getLong(ordinal)
    tally.add(value)
    vector.vector(slot) = value
  }
}

final private[orc] class OrcTimeLeaf(place: OrcPlace, vector: LongColumnVector, tally: LongTally)
    extends OrcLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = TimeOfDay.checked(values.getLong(ordinal), place.name)
    tally.add(value)
    vector.vector(slot) = value
  }
}

final private[orc] class OrcTimestampLeaf(
    place: OrcPlace,
    vector: TimestampColumnVector,
    tally: LongTally,
    unitsPerSecond: Long
) extends OrcLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getLong(ordinal)
    tally.add(value)
    OrcTimestamp.put(vector, slot, value, unitsPerSecond, place.name)
  }
}

final private[orc] class OrcFloatLeaf(place: OrcPlace, vector: DoubleColumnVector, tally: FloatTally)
    extends OrcLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getFloat(ordinal)
    tally.add(value)
    vector.vector(slot) = value.toDouble
  }
}

final private[orc] class OrcDoubleLeaf(place: OrcPlace, vector: DoubleColumnVector, tally: DoubleTally)
    extends OrcLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getDouble(ordinal)
    tally.add(value)
    vector.vector(slot) = value
  }
}

/** Puts decimals of up to 18 digits, as longs. */
final private[orc] class OrcLongDecimalLeaf(
    place: OrcPlace,
    vector: Decimal64ColumnVector,
    tally: LongTally,
    t: DecimalType
) extends OrcLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getDecimal(ordinal, t.precision, t.scale).toUnscaledLong
    tally.add(value)
    vector.vector(slot) = value
  }
}

final private[orc] class OrcDecimalLeaf(
    place: OrcPlace,
    vector: DecimalColumnVector,
    tally: DecimalTally,
    t: DecimalType
) extends OrcLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val value = values.getDecimal(ordinal, t.precision, t.scale).toJavaBigDecimal
    tally.add(value)
    vector.vector(slot).set(HiveDecimal.create(value, false))
  }
}

/** Puts strings. The bytes are copied, because Spark reuses the row before the batch is written. */
final private[orc] class OrcStringLeaf(place: OrcPlace, vector: BytesColumnVector, tally: BytesTally)
    extends OrcLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val text = values.getUTF8String(ordinal)
    val bytes = RowBytes.array(text)
    val offset = RowBytes.offset(text)
    tally.add(bytes, offset, text.numBytes)
    vector.setVal(slot, bytes, offset, text.numBytes)
  }
}

final private[orc] class OrcBinaryLeaf(place: OrcPlace, vector: BytesColumnVector, tally: BytesTally)
    extends OrcLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val bytes = values.getBinary(ordinal)
    tally.add(bytes, 0, bytes.length)
    vector.setVal(slot, bytes, 0, bytes.length)
  }
}

final private[orc] class OrcFixedLeaf(
    place: OrcPlace,
    vector: BytesColumnVector,
    tally: BytesTally,
    length: Int
) extends OrcLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val bytes = values.getBinary(ordinal)
    RowFaults.checkLength(bytes, length, place.name)
    tally.add(bytes, 0, length)
    vector.setVal(slot, bytes, 0, length)
  }
}

/** Converts the text of a UUID to 16 bytes, with the most significant byte first. */
final private[orc] class OrcUuidLeaf(place: OrcPlace, vector: BytesColumnVector, tally: BytesTally)
    extends OrcLeafWriter(place, tally) {
  private val bytes = new Array[Byte](AvroSchemas.UuidSize)
  private val buffer = ByteBuffer.wrap(bytes)

  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val uuid = UuidText.parse(values.getUTF8String(ordinal), place.name)
    buffer.putLong(0, uuid.getMostSignificantBits).putLong(8, uuid.getLeastSignificantBits)
    tally.add(bytes, 0, bytes.length)
    vector.setVal(slot, bytes, 0, bytes.length)
  }
}
