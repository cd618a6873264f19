package iceberglite.data.avro

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.UUID

import iceberglite.avro.{AvroOutput, AvroSchemas}
import iceberglite.data.{FieldChecks, Record, Variant}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.types.{NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Type._

/**
 * Encodes the values of one column according to the schemas of [[iceberglite.avro.AvroSchemas]].
 *
 * @param path path of the column, for messages
 */
abstract private[avro] class AvroSink(required: Boolean, path: String) {
  final def put(value: AnyRef, out: AvroOutput): Unit =
    if (required) {
      if (value eq null) FieldChecks.failMissing(path)
      putNonNull(value, out)
    } else {
      out.writeBranch(value ne null)
      if (value ne null) putNonNull(value, out)
    }

  protected def putNonNull(value: AnyRef, out: AvroOutput): Unit
}

private[avro] object AvroSinks {

  /**
   * The sinks of a struct's fields. Fields of type unknown are omitted, because they are always null, and Avro encodes
   * null in zero bytes.
   */
  final class Fields(struct: StructType, path: Vector[String]) {
    private val stored = struct.fields.zipWithIndex.filter(f => (f._1.fieldType: Type) != UnknownType)
    private val ordinals = stored.map(_._2).toArray
    private val sinks = stored.map { case (f, _) => of(f, path :+ f.name) }.toArray

    def put(record: Record, out: AvroOutput): Unit = {
      var i = 0
      while (i < sinks.length) {
        sinks(i).put(record(ordinals(i)), out)
        i += 1
      }
    }
  }

  private def of(f: NestedField, path: Vector[String]): AvroSink = {
    val name = path.mkString(".")
    f.fieldType match {
      case struct: StructType => new Structs(new Fields(struct, path), f.required, name)
      case list: ListType => new Lists(part(list.elementField, path), f.required, name)
      case map: MapType => new Maps(part(map.keyField, path), part(map.valueField, path), f.required, name)
      case primitive: PrimitiveType => leaf(primitive, f.required, name)
    }
  }

  /**
   * Returns the sink of an element, key or value.
   *
   * @throws Unsupported if the type is unknown. The values of this type take zero bytes, and readers reject a block
   *   with more items than bytes
   */
  private def part(f: NestedField, path: Vector[String]): AvroSink =
    if ((f.fieldType: Type) != UnknownType) of(f, path :+ f.name)
    else throw Unsupported(s"a list or map whose ${f.name} has type ${f.fieldType} in Avro", "Use another type")

  private def leaf(t: PrimitiveType, required: Boolean, name: String): AvroSink = t match {
    case BooleanType => sink(required, name)((v, out) => out.writeBoolean(v.asInstanceOf[Boolean]))
    case IntType | LongType | DateType | TimeType | TimestampType | TimestampTzType | TimestampNsType |
        TimestampTzNsType =>
      sink(required, name)((v, out) => out.writeLong(v.asInstanceOf[Number].longValue))
    case FloatType => sink(required, name)((v, out) => out.writeFloat(v.asInstanceOf[java.lang.Float]))
    case DoubleType => sink(required, name)((v, out) => out.writeDouble(v.asInstanceOf[java.lang.Double]))
    case StringType => sink(required, name)((v, out) => out.writeText(v.asInstanceOf[String]))
    case BinaryType | _: GeometryType | _: GeographyType =>
      sink(required, name)((v, out) => out.writeBytes(v.asInstanceOf[ByteBuffer]))
    case fixed: FixedType => sink(required, name) { (v, out) =>
        FieldChecks.length(fixed, v.asInstanceOf[ByteBuffer], name)
        out.writeRaw(v.asInstanceOf[ByteBuffer])
      }
    case UuidType => sink(required, name) { (v, out) =>
        out.writeBigEndian(v.asInstanceOf[UUID].getMostSignificantBits)
        out.writeBigEndian(v.asInstanceOf[UUID].getLeastSignificantBits)
      }
    case decimal: DecimalType => new Decimals(decimal, required, name)
    case VariantType => sink(required, name) { (v, out) =>
        out.writeBytes(v.asInstanceOf[Variant].metadata)
        out.writeBytes(v.asInstanceOf[Variant].value)
      }
    case UnknownType =>
      throw Unsupported(s"storing column $name of type $t", "Columns of type unknown are always null")
  }

  private def sink(required: Boolean, name: String)(write: (AnyRef, AvroOutput) => Unit): AvroSink =
    new AvroSink(required, name) {
      override protected def putNonNull(value: AnyRef, out: AvroOutput): Unit = write(value, out)
    }

  /** Encodes decimals, sign-extended to the length of the type. */
  final private class Decimals(t: DecimalType, required: Boolean, path: String) extends AvroSink(required, path) {
    private val length = AvroSchemas.bytesOfDecimal(t.precision)

    override protected def putNonNull(value: AnyRef, out: AvroOutput): Unit = {
      val unscaled = FieldChecks.decimal(t, value.asInstanceOf[BigDecimal], path).unscaledValue.toByteArray
      val fill = if (unscaled(0) < 0) 0xff else 0
      var i = unscaled.length
      while (i < length) {
        out.writeByte(fill)
        i += 1
      }
      out.writeRaw(unscaled, 0, unscaled.length)
    }
  }

  final private class Structs(fields: Fields, required: Boolean, path: String) extends AvroSink(required, path) {
    override protected def putNonNull(value: AnyRef, out: AvroOutput): Unit =
      fields.put(value.asInstanceOf[Record], out)
  }

  /** Writes one block of items and the end marker. */
  private def block(size: Int, out: AvroOutput)(item: Int => Unit): Unit = {
    if (size > 0) out.writeLong(size.toLong)
    var i = 0
    while (i < size) {
      item(i)
      i += 1
    }
    out.writeLong(0)
  }

  final private class Lists(element: AvroSink, required: Boolean, path: String) extends AvroSink(required, path) {
    override protected def putNonNull(value: AnyRef, out: AvroOutput): Unit = {
      val elements = value.asInstanceOf[Vector[AnyRef]]
      block(elements.size, out)(i => element.put(elements(i), out))
    }
  }

  final private class Maps(keys: AvroSink, values: AvroSink, required: Boolean, path: String)
      extends AvroSink(required, path) {
    override protected def putNonNull(value: AnyRef, out: AvroOutput): Unit = {
      val entries = value.asInstanceOf[Vector[(AnyRef, AnyRef)]]
      block(entries.size, out) { i =>
        keys.put(entries(i)._1, out)
        values.put(entries(i)._2, out)
      }
    }
  }
}
