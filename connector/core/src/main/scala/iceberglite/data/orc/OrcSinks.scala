package iceberglite.data.orc

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import org.apache.hadoop.hive.common.`type`.HiveDecimal
import org.apache.hadoop.hive.ql.exec.vector._

import iceberglite.avro.AvroSchemas
import iceberglite.data.{FieldChecks, Record, Variant}
import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.spec.types.Type._

/**
 * Writes the values of one column to the library's vectors.
 *
 * @param path path of the column, for messages
 */
abstract private[orc] class OrcSink(required: Boolean, path: String) {
  final def put(vector: ColumnVector, row: Int, value: AnyRef): Unit =
    if (value ne null) putNonNull(vector, row, value)
    else if (required) FieldChecks.failMissing(path)
    else {
      vector.noNulls = false
      vector.isNull(row) = true
    }

  protected def putNonNull(vector: ColumnVector, row: Int, value: AnyRef): Unit
}

private[orc] object OrcSinks {

  /** The sinks of the fields that the file stores, in the order of the library's vectors. */
  final class Fields(struct: StructType, path: Vector[String]) {
    private val stored = struct.fields.zipWithIndex.filter(f => OrcSchemas.isStored(f._1))
    private val ordinals = stored.map(_._2).toArray
    private val sinks = stored.map { case (f, _) => of(f, path :+ f.name) }.toArray

    def put(vectors: Array[ColumnVector], row: Int, record: Record): Unit = {
      var i = 0
      while (i < sinks.length) {
        sinks(i).put(vectors(i), row, record(ordinals(i)))
        i += 1
      }
    }
  }

  private def of(f: NestedField, path: Vector[String]): OrcSink = {
    val name = path.mkString(".")
    f.fieldType match {
      case struct: StructType => new Structs(new Fields(struct, path), f.required, name)
      case list: ListType => new Lists(of(list.elementField, path :+ "element"), f.required, name)
      case map: MapType =>
        new Maps(of(map.keyField, path :+ "key"), of(map.valueField, path :+ "value"), f.required, name)
      case primitive: PrimitiveType => leaf(primitive, f.required, name)
    }
  }

  private def leaf(t: PrimitiveType, required: Boolean, name: String): OrcSink = t match {
    case BooleanType => new Booleans(required, name)
    case IntType | LongType | DateType | TimeType => new Numbers(required, name)
    case FloatType | DoubleType => new Floating(required, name)
    case TimestampType | TimestampTzType => new Timestamps(1000000L, required, name)
    case TimestampNsType | TimestampTzNsType => new Timestamps(1000000000L, required, name)
    case StringType => new Strings(required, name)
    case UuidType => new Uuids(required, name)
    case fixed: FixedType => new Binaries(Some(fixed), required, name)
    case BinaryType | _: GeometryType | _: GeographyType | UnknownType => new Binaries(None, required, name)
    case VariantType => new Variants(required, name)
    case decimal: DecimalType => new Decimals(decimal, required, name)
  }

  final private class Booleans(required: Boolean, path: String) extends OrcSink(required, path) {
    override protected def putNonNull(vector: ColumnVector, row: Int, value: AnyRef): Unit =
      vector.asInstanceOf[LongColumnVector].vector(row) = if (value.asInstanceOf[Boolean]) 1L else 0L
  }

  final private class Numbers(required: Boolean, path: String) extends OrcSink(required, path) {
    override protected def putNonNull(vector: ColumnVector, row: Int, value: AnyRef): Unit =
      vector.asInstanceOf[LongColumnVector].vector(row) = value.asInstanceOf[Number].longValue
  }

  final private class Floating(required: Boolean, path: String) extends OrcSink(required, path) {
    override protected def putNonNull(vector: ColumnVector, row: Int, value: AnyRef): Unit =
      vector.asInstanceOf[DoubleColumnVector].vector(row) = value.asInstanceOf[Number].doubleValue
  }

  final private class Timestamps(unitsPerSecond: Long, required: Boolean, path: String)
      extends OrcSink(required, path) {
    override protected def putNonNull(vector: ColumnVector, row: Int, value: AnyRef): Unit = {
      val units = value.asInstanceOf[Number].longValue
      OrcTimestamp.put(vector.asInstanceOf[TimestampColumnVector], row, units, unitsPerSecond, path)
    }
  }

  final private class Strings(required: Boolean, path: String) extends OrcSink(required, path) {
    override protected def putNonNull(vector: ColumnVector, row: Int, value: AnyRef): Unit = {
      val bytes = value.asInstanceOf[String].getBytes(UTF_8)
      vector.asInstanceOf[BytesColumnVector].setRef(row, bytes, 0, bytes.length)
    }
  }

  final private class Uuids(required: Boolean, path: String) extends OrcSink(required, path) {
    override protected def putNonNull(vector: ColumnVector, row: Int, value: AnyRef): Unit = {
      val uuid = value.asInstanceOf[UUID]
      val bytes = ByteBuffer.allocate(AvroSchemas.UuidSize).putLong(uuid.getMostSignificantBits)
        .putLong(uuid.getLeastSignificantBits).array
      vector.asInstanceOf[BytesColumnVector].setRef(row, bytes, 0, bytes.length)
    }
  }

  final private class Binaries(fixed: Option[FixedType], required: Boolean, path: String)
      extends OrcSink(required, path) {
    override protected def putNonNull(vector: ColumnVector, row: Int, value: AnyRef): Unit = {
      fixed.foreach(FieldChecks.length(_, value.asInstanceOf[ByteBuffer], path))
      putBytes(vector, row, value.asInstanceOf[ByteBuffer])
    }
  }

  private def putBytes(vector: ColumnVector, row: Int, value: ByteBuffer): Unit = {
    val target = vector.asInstanceOf[BytesColumnVector]
    if (value.hasArray) target.setRef(row, value.array, value.arrayOffset + value.position(), value.remaining)
    else {
      val bytes = new Array[Byte](value.remaining)
      value.duplicate().get(bytes)
      target.setRef(row, bytes, 0, bytes.length)
    }
  }

  final private class Variants(required: Boolean, path: String) extends OrcSink(required, path) {
    override protected def putNonNull(vector: ColumnVector, row: Int, value: AnyRef): Unit = {
      val variant = value.asInstanceOf[Variant]
      val parts = vector.asInstanceOf[StructColumnVector].fields
      putBytes(parts(0), row, variant.metadata)
      putBytes(parts(1), row, variant.value)
    }
  }

  final private class Decimals(t: DecimalType, required: Boolean, path: String) extends OrcSink(required, path) {
    override protected def putNonNull(vector: ColumnVector, row: Int, value: AnyRef): Unit = {
      val decimal = FieldChecks.decimal(t, value.asInstanceOf[BigDecimal], path)
      vector.asInstanceOf[DecimalColumnVector].vector(row).set(HiveDecimal.create(decimal, false))
    }
  }

  final private class Structs(fields: Fields, required: Boolean, path: String) extends OrcSink(required, path) {
    override protected def putNonNull(vector: ColumnVector, row: Int, value: AnyRef): Unit =
      fields.put(vector.asInstanceOf[StructColumnVector].fields, row, value.asInstanceOf[Record])
  }

  final private class Lists(element: OrcSink, required: Boolean, path: String) extends OrcSink(required, path) {
    override protected def putNonNull(vector: ColumnVector, row: Int, value: AnyRef): Unit = {
      val elements = value.asInstanceOf[Vector[AnyRef]]
      val list = vector.asInstanceOf[ListColumnVector]
      val first = OrcEntries.startEntries(list, row, elements.size)
      OrcEntries.ensureCapacity(list.child, list.childCount)
      var i = 0
      while (i < elements.size) {
        element.put(list.child, first + i, elements(i))
        i += 1
      }
    }
  }

  final private class Maps(keys: OrcSink, values: OrcSink, required: Boolean, path: String)
      extends OrcSink(required, path) {
    override protected def putNonNull(vector: ColumnVector, row: Int, value: AnyRef): Unit = {
      val entries = value.asInstanceOf[Vector[(AnyRef, AnyRef)]]
      val map = vector.asInstanceOf[MapColumnVector]
      val first = OrcEntries.startEntries(map, row, entries.size)
      OrcEntries.ensureCapacity(map.keys, map.childCount)
      OrcEntries.ensureCapacity(map.values, map.childCount)
      var i = 0
      while (i < entries.size) {
        keys.put(map.keys, first + i, entries(i)._1)
        values.put(map.values, first + i, entries(i)._2)
        i += 1
      }
    }
  }
}
