package iceberglite.spark.write.avro

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, SpecializedGetters}
import org.apache.spark.sql.types.{ByteType, Decimal, ShortType}

import iceberglite.data.avro.{AvroField, AvroPlace, AvroTraversal}
import iceberglite.spark.write.files.{InputField, InputSource, SparkRowSource, VariantParts}
import iceberglite.spark.write.metrics.FileTallies
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.types.PrimitiveType
import iceberglite.spec.types.Type._

/** Creates the encoders of the fields of Spark's rows. */
final private[avro] class AvroFieldWriters(tallies: FileTallies)
    extends AvroTraversal[InputField, SpecializedGetters](SparkRowSource) {

  override protected def unstored(input: InputField, name: String): Option[AvroUnwrittenField] =
    Some(new AvroUnwrittenField(name, input.field.fieldType))

  override protected def fromSource(
      input: InputField,
      name: String,
      writer: AvroField[SpecializedGetters]
  ): AvroField[SpecializedGetters] = {
    val typed =
      if (input.field.fieldType == VariantType) new AvroVariantField(writer, new VariantParts(name)) else writer
    input.source match {
      case InputSource.Rows(_) => typed
      case InputSource.Constant(value) => new AvroConstantField(typed, new GenericInternalRow(Array[Any](value.orNull)))
    }
  }

  override protected def leaf(input: InputField, t: PrimitiveType, place: AvroPlace): AvroLeafWriter = {
    val field = input.field
    t match {
      case FloatType => new AvroFloatLeaf(place, tallies.ofFloats(field, place.counted))
      case DoubleType => new AvroDoubleLeaf(place, tallies.ofDoubles(field, place.counted))
      case decimal: DecimalType if decimal.precision <= Decimal.MAX_LONG_DIGITS =>
        new AvroLongDecimalLeaf(place, tallies.ofUnscaled(field, decimal.scale, place.counted), decimal)
      case decimal: DecimalType => new AvroDecimalLeaf(place, tallies.ofDecimals(field, place.counted), decimal)
      case BooleanType | IntType | LongType | DateType | TimeType | TimestampType | TimestampTzType |
          TimestampNsType | TimestampTzNsType =>
        numberLeaf(input, t, place)
      case StringType | UuidType | FixedType(_) | BinaryType | _: GeometryType | _: GeographyType =>
        bytesLeaf(input, t, place)
      case UnknownType | VariantType =>
        throw Unsupported(s"writing column ${place.name} of type $t", "Remove the column from the table")
    }
  }

  private def numberLeaf(input: InputField, t: PrimitiveType, place: AvroPlace): AvroLeafWriter = {
    val tally = tallies.ofLongs(input.field, place.counted)
    t match {
      case BooleanType => new AvroBooleanLeaf(place, tally)
      case IntType if input.dataType == ByteType => new AvroByteLeaf(place, tally)
      case IntType if input.dataType == ShortType => new AvroShortLeaf(place, tally)
      case IntType | DateType => new AvroIntLeaf(place, tally)
      case TimeType => new AvroTimeLeaf(place, tally)
      case _ => new AvroLongLeaf(place, tally)
    }
  }

  private def bytesLeaf(input: InputField, t: PrimitiveType, place: AvroPlace): AvroLeafWriter = {
    val tally = tallies.ofBytes(input, t, place.name, place.counted)
    t match {
      case StringType => new AvroStringLeaf(place, tally)
      case UuidType => new AvroUuidLeaf(place, tally)
      case FixedType(length) => new AvroFixedLeaf(place, tally, length)
      case _ => new AvroBinaryLeaf(place, tally)
    }
  }
}
