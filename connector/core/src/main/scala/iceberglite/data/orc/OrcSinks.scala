package iceberglite.data.orc

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import org.apache.hadoop.hive.common.`type`.HiveDecimal
import org.apache.hadoop.hive.ql.exec.vector._

import iceberglite.avro.AvroSchemas
import iceberglite.data.{FieldChecks, RecordField, RecordSource}
import iceberglite.metrics.SpatialCollector
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.PrimitiveType
import iceberglite.spec.types.Type._

/** Puts the primitive values of records into the vectors of the ORC library. */
abstract private[orc] class OrcSink(place: OrcPlace) extends OrcStoredField[Array[AnyRef]](place, RecordSource) {
  final override def put(values: Array[AnyRef], ordinal: Int, slot: Int): Unit = {
    val value = values(ordinal)
    if (value eq null) putNull(slot) else putNonNull(slot, value)
  }

  protected def putNonNull(slot: Int, value: AnyRef): Unit

  final override def countAbsent(): Unit = ()
}

private[orc] object OrcSinks {

  /**
   * Returns the writers of the values of records.
   *
   * @param vectors the vectors of a batch with the ORC schema that [[OrcSchemas]] returns for the schema
   */
  def of(schema: Schema, vectors: Array[ColumnVector]): OrcRowFields[Array[AnyRef]] =
    Builder.of(RecordField.of(schema.fields), vectors)

  private object Builder extends OrcTraversal[RecordField, Array[AnyRef]](RecordSource) {
    override protected def leaf(f: RecordField, t: PrimitiveType, place: OrcPlace): OrcSink = (t, place.vector) match {
      case (BooleanType, vector: LongColumnVector) => new Booleans(place, vector)
      case (IntType | LongType | DateType | TimeType, vector: LongColumnVector) => new Numbers(place, vector)
      case (FloatType | DoubleType, vector: DoubleColumnVector) => new Floating(place, vector)
      case (TimestampType | TimestampTzType, vector: TimestampColumnVector) => new Timestamps(place, vector, 1000000L)
      case (TimestampNsType | TimestampTzNsType, vector: TimestampColumnVector) =>
        new Timestamps(place, vector, 1000000000L)
      case (StringType, vector: BytesColumnVector) => new Strings(place, vector)
      case (UuidType, vector: BytesColumnVector) => new Uuids(place, vector)
      case (fixed: FixedType, vector: BytesColumnVector) =>
        new Binaries(place, vector, FieldChecks.length(fixed, _, place.name))
      case (BinaryType, vector: BytesColumnVector) => new Binaries(place, vector, _ => ())
      case (_: GeometryType | _: GeographyType, vector: BytesColumnVector) =>
        new Binaries(place, vector, SpatialCollector.check(_, place.name))
      case (decimal: DecimalType, vector: DecimalColumnVector) => new Decimals(place, vector, decimal)
      case _ => throw Unsupported(s"storing column ${place.name} of type $t", "Use another type")
    }
  }

  final private class Booleans(place: OrcPlace, vector: LongColumnVector) extends OrcSink(place) {
    override protected def putNonNull(slot: Int, value: AnyRef): Unit =
      vector.vector(slot) = if (value.asInstanceOf[Boolean]) 1L else 0L
  }

  final private class Numbers(place: OrcPlace, vector: LongColumnVector) extends OrcSink(place) {
    override protected def putNonNull(slot: Int, value: AnyRef): Unit =
      vector.vector(slot) = value.asInstanceOf[Number].longValue
  }

  final private class Floating(place: OrcPlace, vector: DoubleColumnVector) extends OrcSink(place) {
    override protected def putNonNull(slot: Int, value: AnyRef): Unit =
      vector.vector(slot) = value.asInstanceOf[Number].doubleValue
  }

  final private class Timestamps(place: OrcPlace, vector: TimestampColumnVector, unitsPerSecond: Long)
      extends OrcSink(place) {
    override protected def putNonNull(slot: Int, value: AnyRef): Unit =
      OrcTimestamp.put(vector, slot, value.asInstanceOf[Number].longValue, unitsPerSecond, place.name)
  }

  final private class Strings(place: OrcPlace, vector: BytesColumnVector) extends OrcSink(place) {
    override protected def putNonNull(slot: Int, value: AnyRef): Unit = {
      val bytes = value.asInstanceOf[String].getBytes(UTF_8)
      vector.setRef(slot, bytes, 0, bytes.length)
    }
  }

  final private class Uuids(place: OrcPlace, vector: BytesColumnVector) extends OrcSink(place) {
    override protected def putNonNull(slot: Int, value: AnyRef): Unit = {
      val uuid = value.asInstanceOf[UUID]
      val bytes = ByteBuffer.allocate(AvroSchemas.UuidSize).putLong(uuid.getMostSignificantBits)
        .putLong(uuid.getLeastSignificantBits).array
      vector.setRef(slot, bytes, 0, bytes.length)
    }
  }

  /** @param check throws the error for a value that is not valid */
  final private class Binaries(place: OrcPlace, vector: BytesColumnVector, check: ByteBuffer => Unit)
      extends OrcSink(place) {
    override protected def putNonNull(slot: Int, value: AnyRef): Unit = {
      val buffer = value.asInstanceOf[ByteBuffer]
      check(buffer)
      if (buffer.hasArray)
        vector.setRef(slot, buffer.array, buffer.arrayOffset + buffer.position(), buffer.remaining)
      else {
        val bytes = new Array[Byte](buffer.remaining)
        buffer.duplicate().get(bytes)
        vector.setRef(slot, bytes, 0, bytes.length)
      }
    }
  }

  final private class Decimals(place: OrcPlace, vector: DecimalColumnVector, t: DecimalType) extends OrcSink(place) {
    override protected def putNonNull(slot: Int, value: AnyRef): Unit = {
      val decimal = FieldChecks.decimal(t, value.asInstanceOf[BigDecimal], place.name)
      vector.vector(slot).set(HiveDecimal.create(decimal, false))
    }
  }
}
