package iceberglite.data.avro

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.UUID

import iceberglite.avro.{AvroOutput, AvroSchemas}
import iceberglite.data.{FieldChecks, RecordField, RecordSource}
import iceberglite.metrics.SpatialCollector
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.spec.types.Type._

/** Encodes the primitive values of records. */
abstract private[avro] class AvroSink(place: AvroPlace) extends AvroStoredField[Array[AnyRef]](place, RecordSource) {
  final override def put(values: Array[AnyRef], ordinal: Int, out: AvroOutput): Unit = {
    val value = values(ordinal)
    putPresence(value ne null, out)
    if (value ne null) putNonNull(value, out)
  }

  protected def putNonNull(value: AnyRef, out: AvroOutput): Unit

  final override def countAbsent(): Unit = ()
}

/**
 * The encoders of the values of records. Fields of type unknown are omitted, because they are always null, and Avro
 * encodes null in zero bytes.
 */
private[avro] object AvroSinks extends AvroTraversal[RecordField, Array[AnyRef]](RecordSource) {

  /** @throws Unsupported if an element, key or value has the type unknown */
  def ofFields(fields: Vector[NestedField]): AvroRowFields[Array[AnyRef]] = of(RecordField.of(fields))

  override protected def leaf(f: RecordField, t: PrimitiveType, place: AvroPlace): AvroSink = t match {
    case BooleanType => sink(place)((v, out) => out.writeBoolean(v.asInstanceOf[Boolean]))
    case IntType | LongType | DateType | TimeType | TimestampType | TimestampTzType | TimestampNsType |
        TimestampTzNsType =>
      sink(place)((v, out) => out.writeLong(v.asInstanceOf[Number].longValue))
    case FloatType => sink(place)((v, out) => out.writeFloat(v.asInstanceOf[java.lang.Float]))
    case DoubleType => sink(place)((v, out) => out.writeDouble(v.asInstanceOf[java.lang.Double]))
    case StringType => sink(place)((v, out) => out.writeText(v.asInstanceOf[String]))
    case BinaryType => sink(place)((v, out) => out.writeBytes(v.asInstanceOf[ByteBuffer]))
    case _: GeometryType | _: GeographyType => sink(place) { (v, out) =>
        SpatialCollector.check(v.asInstanceOf[ByteBuffer], place.name)
        out.writeBytes(v.asInstanceOf[ByteBuffer])
      }
    case fixed: FixedType => sink(place) { (v, out) =>
        FieldChecks.length(fixed, v.asInstanceOf[ByteBuffer], place.name)
        out.writeRaw(v.asInstanceOf[ByteBuffer])
      }
    case UuidType => sink(place) { (v, out) =>
        out.writeBigEndian(v.asInstanceOf[UUID].getMostSignificantBits)
        out.writeBigEndian(v.asInstanceOf[UUID].getLeastSignificantBits)
      }
    case decimal: DecimalType => new Decimals(decimal, place)
    // Fields of type unknown are not stored, so only elements, keys and values reach this case. They would take zero
    // bytes, and the reader rejects a block with more items than bytes.
    case UnknownType | VariantType =>
      throw Unsupported(s"a list or map whose ${f.field.name} has type $t in Avro", "Use another type")
  }

  private def sink(place: AvroPlace)(write: (AnyRef, AvroOutput) => Unit): AvroSink =
    new AvroSink(place) {
      override protected def putNonNull(value: AnyRef, out: AvroOutput): Unit = write(value, out)
    }

  /** Encodes decimals, sign-extended to the length of the type. */
  final private class Decimals(t: DecimalType, place: AvroPlace) extends AvroSink(place) {
    private val length = AvroSchemas.bytesOfDecimal(t.precision)

    override protected def putNonNull(value: AnyRef, out: AvroOutput): Unit = {
      val unscaled = FieldChecks.decimal(t, value.asInstanceOf[BigDecimal], place.name).unscaledValue.toByteArray
      val fill = if (unscaled(0) < 0) 0xff else 0
      var i = unscaled.length
      while (i < length) {
        out.writeByte(fill)
        i += 1
      }
      out.writeRaw(unscaled, 0, unscaled.length)
    }
  }
}
