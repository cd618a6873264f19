package iceberglite.spark.write.parquet

import org.apache.parquet.schema.MessageType
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, SpecializedGetters}
import org.apache.spark.sql.types.{ByteType, Decimal, ShortType}

import iceberglite.data.parquet.shred.{
  FieldShredder,
  LeafColumn,
  ParquetPlace,
  Shredder,
  ShredderBuilder,
  VariantShredder
}
import iceberglite.metrics.SpatialCollector
import iceberglite.spark.convert.VariantText
import iceberglite.spark.write.files.{InputField, InputSource, SparkRowSource, VariantParts}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.types.Type._
import iceberglite.spec.types.VariantFields

/** Creates the object that shreds Spark's rows into the columns of a Parquet file. */
private[parquet] object RowShredder {
  private val MaxIntDigits = 9

  /**
   * Creates the shredder of rows.
   *
   * @param schema the schema of the file: the fields of `input` that are stored, in the order of `input`
   */
  def of(input: Vector[InputField], schema: MessageType): Shredder[SpecializedGetters] =
    new Builder(schema).shredder(input)

  final private class Builder(schema: MessageType)
      extends ShredderBuilder[InputField, SpecializedGetters](schema, SparkRowSource) {

    override protected def unstored(input: InputField, name: String): Option[ParquetUnwrittenField] =
      Some(new ParquetUnwrittenField(name, input.field.fieldType))

    override protected def fromSource(
        input: InputField,
        name: String,
        shredder: FieldShredder[SpecializedGetters]
    ): FieldShredder[SpecializedGetters] = {
      val typed = shredder match {
        case shredded: VariantShredder[SpecializedGetters] => shredded
        case _ if input.field.fieldType == VariantType => new ParquetVariantField(shredder, new VariantParts(name))
        case _ => shredder
      }
      input.source match {
        case InputSource.Rows(_) => typed
        case InputSource.Constant(value) =>
          new ConstantWriter(typed, new GenericInternalRow(Array[Any](value.orNull)))
      }
    }

    override protected def struct(
        input: InputField,
        place: ParquetPlace,
        fields: Vector[(FieldShredder[SpecializedGetters], Int)]
    ): FieldShredder[SpecializedGetters] =
      if (input.field.fieldType == VariantType && place.group.containsField(VariantFields.TypedValue))
        VariantShredder.of[SpecializedGetters](
          schema,
          place,
          input.field.id,
          SparkRowSource,
          (values, ordinal) => VariantText.node(values.getUTF8String(ordinal), place.name)
        )
      else super.struct(input, place, fields)

    override protected def leaf(input: InputField, column: LeafColumn): LeafWriter = input.field.fieldType match {
      case BooleanType => new ParquetBooleanLeaf(column)
      case IntType if input.dataType == ByteType => new ParquetByteLeaf(column)
      case IntType if input.dataType == ShortType => new ParquetShortLeaf(column)
      case IntType | DateType => new ParquetIntLeaf(column)
      case TimeType => new ParquetTimeLeaf(column)
      case LongType | TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType =>
        new ParquetLongLeaf(column)
      case FloatType => new ParquetFloatLeaf(column)
      case DoubleType => new ParquetDoubleLeaf(column)
      case DecimalType(p, s) if p <= MaxIntDigits => new ParquetIntDecimalLeaf(column, p, s)
      case DecimalType(p, s) if p <= Decimal.MAX_LONG_DIGITS => new ParquetLongDecimalLeaf(column, p, s)
      case DecimalType(p, s) => new ParquetBytesDecimalLeaf(column, p, s)
      case StringType => new ParquetStringLeaf(column)
      case UuidType => new ParquetUuidLeaf(column)
      case FixedType(_) => new ParquetFixedLeaf(column)
      case BinaryType => new ParquetBinaryLeaf(column)
      case t: GeometryType => new ParquetGeometryLeaf(column, new SpatialCollector(t), input.checksGeometries)
      case t: GeographyType => new ParquetGeometryLeaf(column, new SpatialCollector(t), input.checksGeometries)
      case other =>
        throw Unsupported(s"writing column ${column.name} of type $other", "Remove the column from the table")
    }
  }
}
