package iceberglite.spark.write.avro

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

import iceberglite.avro.{AvroOutput, AvroSchemas}
import iceberglite.data.avro.{AvroPlace, AvroStoredField}
import iceberglite.spark.write.files.{RowBytes, RowFaults, SparkRowSource, TimeOfDay, UuidText}
import iceberglite.spark.write.metrics._
import iceberglite.spec.types.Type.DecimalType

/**
 * Encodes primitive values. Each kind of value has its own class with its own `put`, so that writing a value needs only
 * one virtual call.
 */
abstract private[avro] class AvroLeafWriter(place: AvroPlace, tally: ColumnTally)
    extends AvroStoredField[SpecializedGetters](place, SparkRowSource) {

  /** Encodes a null if the value is null. @return whether the value is not null */
  final protected def isPresent(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Boolean = {
    val present = !values.isNullAt(ordinal)
    putPresence(present, out)
    present
  }

  final override def countAbsent(): Unit = tally.addNull()
}

final private[avro] class AvroBooleanLeaf(place: AvroPlace, tally: LongTally)
    extends AvroLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val value = values.getBoolean(ordinal)
      tally.add(if (value) 1L else 0L)
      out.writeBoolean(value)
    }
}

final private[avro] class AvroByteLeaf(place: AvroPlace, tally: LongTally)
    extends AvroLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val value = values.getByte(ordinal).toLong
      tally.add(value)
      out.writeLong(value)
    }
}

final private[avro] class AvroShortLeaf(place: AvroPlace, tally: LongTally)
    extends AvroLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val value = values.getShort(ordinal).toLong
      tally.add(value)
      out.writeLong(value)
    }
}

final private[avro] class AvroIntLeaf(place: AvroPlace, tally: LongTally)
    extends AvroLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val value = values.getInt(ordinal).toLong
      tally.add(value)
      out.writeLong(value)
    }
}

final private[avro] class AvroLongLeaf(place: AvroPlace, tally: LongTally)
    extends AvroLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val value = values.getLong(ordinal)
      tally.add(value)
      out.writeLong(value)
    }
}

final private[avro] class AvroTimeLeaf(place: AvroPlace, tally: LongTally)
    extends AvroLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val value = TimeOfDay.checked(values.getLong(ordinal), place.name)
      tally.add(value)
      out.writeLong(value)
    }
}

final private[avro] class AvroFloatLeaf(place: AvroPlace, tally: FloatTally)
    extends AvroLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val value = values.getFloat(ordinal)
      tally.add(value)
      out.writeFloat(value)
    }
}

final private[avro] class AvroDoubleLeaf(place: AvroPlace, tally: DoubleTally)
    extends AvroLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val value = values.getDouble(ordinal)
      tally.add(value)
      out.writeDouble(value)
    }
}

/** Encodes decimals of up to 18 digits, whose unscaled value is a long, with the most significant byte first. */
final private[avro] class AvroLongDecimalLeaf(place: AvroPlace, tally: LongTally, t: DecimalType)
    extends AvroLeafWriter(place, tally) {
  private val topShift = 8 * (AvroSchemas.bytesOfDecimal(t.precision) - 1)

  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val value = values.getDecimal(ordinal, t.precision, t.scale).toUnscaledLong
      tally.add(value)
      var shift = topShift
      while (shift >= 0) {
        out.writeByte((value >> shift).toInt)
        shift -= 8
      }
    }
}

/** Encodes decimals of more than 18 digits, sign-extended to the number of bytes of the type. */
final private[avro] class AvroDecimalLeaf(place: AvroPlace, tally: DecimalTally, t: DecimalType)
    extends AvroLeafWriter(place, tally) {
  private val length = AvroSchemas.bytesOfDecimal(t.precision)

  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val value = values.getDecimal(ordinal, t.precision, t.scale).toJavaBigDecimal
      tally.add(value)
      val unscaled = value.unscaledValue.toByteArray
      val fill = if (unscaled(0) < 0) 0xff else 0
      var i = unscaled.length
      while (i < length) {
        out.writeByte(fill)
        i += 1
      }
      out.writeRaw(unscaled, 0, unscaled.length)
    }
}

final private[avro] class AvroStringLeaf(place: AvroPlace, tally: BytesTally)
    extends AvroLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val text = values.getUTF8String(ordinal)
      val bytes = RowBytes.array(text)
      val offset = RowBytes.offset(text)
      tally.add(bytes, offset, text.numBytes)
      out.writeLong(text.numBytes.toLong)
      out.writeRaw(bytes, offset, text.numBytes)
    }
}

final private[avro] class AvroBinaryLeaf(place: AvroPlace, tally: BytesTally)
    extends AvroLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val bytes = values.getBinary(ordinal)
      tally.add(bytes, 0, bytes.length)
      out.writeLong(bytes.length.toLong)
      out.writeRaw(bytes, 0, bytes.length)
    }
}

final private[avro] class AvroFixedLeaf(place: AvroPlace, tally: BytesTally, length: Int)
    extends AvroLeafWriter(place, tally) {
  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val bytes = values.getBinary(ordinal)
      RowFaults.checkLength(bytes, length, place.name)
      tally.add(bytes, 0, length)
      out.writeRaw(bytes, 0, length)
    }
}

/** Converts the text of a UUID to 16 bytes, with the most significant byte first. */
final private[avro] class AvroUuidLeaf(place: AvroPlace, tally: BytesTally)
    extends AvroLeafWriter(place, tally) {
  private val bytes = new Array[Byte](AvroSchemas.UuidSize)
  private val buffer = ByteBuffer.wrap(bytes)

  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val uuid = UuidText.parse(values.getUTF8String(ordinal), place.name)
      buffer.putLong(0, uuid.getMostSignificantBits).putLong(8, uuid.getLeastSignificantBits)
      tally.add(bytes, 0, bytes.length)
      out.writeRaw(bytes, 0, bytes.length)
    }
}
