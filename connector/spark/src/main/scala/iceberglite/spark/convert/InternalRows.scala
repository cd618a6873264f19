package iceberglite.spark.convert

import java.math.BigDecimal
import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types.Decimal
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.inspect.MetadataRow
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type._

/** Converts rows of metadata tables to Spark rows, with the Spark types that [[SparkTypes]] returns. */
object InternalRows {

  /** Returns the converter for rows of a schema; [[MetadataRow]] describes the values. */
  def of(schema: Schema): MetadataRow => InternalRow = struct(schema.fields)

  private def struct(fields: Vector[NestedField]): MetadataRow => InternalRow = {
    val converters = fields.map(f => field(f.fieldType, f.required)).toArray
    row => {
      val values = new Array[Any](converters.length)
      converters.indices.foreach(i => values(i) = converters(i)(row.values(i)))
      new GenericInternalRow(values)
    }
  }

  /** Converts a value. An optional value is an `Option`; a required value is not wrapped. */
  private def field(t: Type, required: Boolean): Any => Any = {
    val convert = value(t)
    if (required) convert
    else {
      case Some(v) => convert(v)
      case None => null
    }
  }

  private def value(t: Type): Any => Any = t match {
    case StructType(fields) =>
      val convert = struct(fields)
      v => convert(v.asInstanceOf[MetadataRow])
    case ListType(_, element, required) =>
      val convert = field(element, required)
      v => new GenericArrayData(v.asInstanceOf[Vector[Any]].map(convert).toArray[Any])
    case MapType(_, key, _, value, required) =>
      val (convertKey, convertValue) = (this.value(key), field(value, required))
      v => map(v.asInstanceOf[Map[Any, Any]], convertKey, convertValue)
    case DecimalType(precision, scale) => v => Decimal(v.asInstanceOf[BigDecimal], precision, scale)
    case StringType | UuidType => v => UTF8String.fromString(v.toString)
    case FixedType(_) | BinaryType | VariantType | GeometryType(_) | GeographyType(_, _) =>
      v => bytes(v.asInstanceOf[ByteBuffer])
    case BooleanType | IntType | LongType | FloatType | DoubleType | DateType | TimeType | TimestampType |
        TimestampTzType | TimestampNsType | TimestampTzNsType | UnknownType =>
      identity
  }

  private def map(
      entries: Map[Any, Any],
      convertKey: Any => Any,
      convertValue: Any => Any
  ): ArrayBasedMapData = {
    val (keys, values) = entries.toArray.unzip
    new ArrayBasedMapData(new GenericArrayData(keys.map(convertKey)), new GenericArrayData(values.map(convertValue)))
  }

  private def bytes(buffer: ByteBuffer): Array[Byte] = {
    val array = new Array[Byte](buffer.remaining)
    buffer.duplicate().get(array)
    array
  }
}
