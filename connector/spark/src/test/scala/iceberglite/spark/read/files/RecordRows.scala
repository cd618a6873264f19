package iceberglite.spark.read.files

import java.math.BigDecimal
import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types.Decimal
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.data.{Record, Variant}
import iceberglite.spark.convert.VariantForm
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type._

/** Converts Iceberg records to Spark rows with the types of [[iceberglite.spark.convert.SparkTypes]]. */
private[iceberglite] object RecordRows {

  /** Returns a function that converts records with these fields. It throws `InvalidArgument` for an invalid variant. */
  def of(fields: Vector[NestedField], variants: VariantForm = VariantForm.Json): Record => InternalRow =
    new RecordRows(variants).of(fields)
}

final private class RecordRows(variants: VariantForm) {

  def of(fields: Vector[NestedField]): Record => InternalRow = {
    val converters = fields.map(f => orNull(value(f.fieldType))).toArray
    record => {
      val values = new Array[Any](converters.length)
      var i = 0
      while (i < values.length) {
        values(i) = converters(i)(record(i))
        i += 1
      }
      new GenericInternalRow(values)
    }
  }

  private def orNull(convert: AnyRef => Any): AnyRef => Any = value => if (value == null) null else convert(value)

  private def value(t: Type): AnyRef => Any = t match {
    case StructType(fields) =>
      val convert = of(fields)
      v => convert(v.asInstanceOf[Record])
    case ListType(_, element, _) =>
      val convert = orNull(value(element))
      v => array(v.asInstanceOf[Vector[AnyRef]], convert)
    case MapType(_, key, _, mapped, _) =>
      val (convertKey, convertValue) = (value(key), orNull(value(mapped)))
      v => {
        val entries = v.asInstanceOf[Vector[(AnyRef, AnyRef)]]
        new ArrayBasedMapData(array(entries.map(_._1), convertKey), array(entries.map(_._2), convertValue))
      }
    case DecimalType(precision, scale) => v => Decimal(v.asInstanceOf[BigDecimal], precision, scale)
    case StringType | UuidType => v => UTF8String.fromString(v.toString)
    case FixedType(_) | BinaryType | GeometryType(_) | GeographyType(_, _) => v => bytes(v.asInstanceOf[ByteBuffer])
    case VariantType => v => variants.of(v.asInstanceOf[Variant])
    case BooleanType | IntType | LongType | FloatType | DoubleType | DateType | TimeType | TimestampType |
        TimestampTzType | TimestampNsType | TimestampTzNsType | UnknownType =>
      identity
  }

  private def array(values: Vector[AnyRef], convert: AnyRef => Any): GenericArrayData =
    new GenericArrayData(values.iterator.map(convert).toArray[Any])

  private def bytes(buffer: ByteBuffer): Array[Byte] = {
    val array = new Array[Byte](buffer.remaining)
    buffer.duplicate().get(array)
    array
  }
}
