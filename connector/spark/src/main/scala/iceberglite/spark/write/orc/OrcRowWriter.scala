package iceberglite.spark.write.orc

import org.apache.hadoop.hive.ql.exec.vector._
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, SpecializedGetters}
import org.apache.spark.sql.types.{ByteType, Decimal, ShortType}

import iceberglite.data.orc.{OrcField, OrcPlace, OrcTraversal}
import iceberglite.spark.write.files.{InputField, InputSource, SparkRowSource, VariantParts}
import iceberglite.spark.write.metrics.FileTallies
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.types.PrimitiveType
import iceberglite.spec.types.Type._

/** Creates the objects that put Spark's rows into the batch from which an ORC file is written. */
final private[orc] class OrcRowWriter(tallies: FileTallies)
    extends OrcTraversal[InputField, SpecializedGetters](SparkRowSource) {

  override protected def unstored(input: InputField, name: String): Option[OrcUnwrittenField] =
    Some(new OrcUnwrittenField(name, input.field.fieldType))

  override protected def fromSource(
      input: InputField,
      name: String,
      writer: OrcField[SpecializedGetters]
  ): OrcField[SpecializedGetters] = {
    val typed =
      if (input.field.fieldType == VariantType) new OrcVariantField(writer, new VariantParts(name)) else writer
    input.source match {
      case InputSource.Rows(_) => typed
      case InputSource.Constant(value) => new OrcConstantField(typed, new GenericInternalRow(Array[Any](value.orNull)))
    }
  }

  override protected def leaf(input: InputField, t: PrimitiveType, place: OrcPlace): OrcLeafWriter = {
    val field = input.field
    (t, place.vector) match {
      case (FloatType, vector: DoubleColumnVector) =>
        new OrcFloatLeaf(place, vector, tallies.ofFloats(field, place.counted))
      case (DoubleType, vector: DoubleColumnVector) =>
        new OrcDoubleLeaf(place, vector, tallies.ofDoubles(field, place.counted))
      case (TimestampNsType | TimestampTzNsType, vector: TimestampColumnVector) =>
        new OrcTimestampLeaf(place, vector, tallies.ofLongs(field, place.counted), 1000000000L)
      case (TimestampType | TimestampTzType, vector: TimestampColumnVector) =>
        new OrcTimestampLeaf(place, vector, tallies.ofLongs(field, place.counted), 1000000L)
      case (decimal: DecimalType, vector) => decimalLeaf(input, decimal, vector, place)
      case (_, vector: LongColumnVector) => numberLeaf(input, t, vector, place)
      case (_, vector: BytesColumnVector) => bytesLeaf(input, t, vector, place)
      case _ => throw Unsupported(s"writing column ${place.name} of type $t", "Remove the column from the table")
    }
  }

  private def numberLeaf(
      input: InputField,
      t: PrimitiveType,
      vector: LongColumnVector,
      place: OrcPlace
  ): OrcLeafWriter = {
    val tally = tallies.ofLongs(input.field, place.counted)
    t match {
      case BooleanType => new OrcBooleanLeaf(place, vector, tally)
      case IntType if input.dataType == ByteType => new OrcByteLeaf(place, vector, tally)
      case IntType if input.dataType == ShortType => new OrcShortLeaf(place, vector, tally)
      case IntType | DateType => new OrcIntLeaf(place, vector, tally)
      case TimeType => new OrcTimeLeaf(place, vector, tally)
      case _ => new OrcLongLeaf(place, vector, tally)
    }
  }

  private def decimalLeaf(input: InputField, t: DecimalType, vector: ColumnVector, place: OrcPlace): OrcLeafWriter =
    if (t.precision <= Decimal.MAX_LONG_DIGITS) {
      val tally = tallies.ofUnscaled(input.field, t.scale, place.counted)
      new OrcLongDecimalLeaf(place, vector.asInstanceOf[Decimal64ColumnVector], tally, t)
    } else {
      val tally = tallies.ofDecimals(input.field, place.counted)
      new OrcDecimalLeaf(place, vector.asInstanceOf[DecimalColumnVector], tally, t)
    }

  private def bytesLeaf(
      input: InputField,
      t: PrimitiveType,
      vector: BytesColumnVector,
      place: OrcPlace
  ): OrcLeafWriter = {
    val tally = tallies.ofBytes(input, t, place.name, place.counted)
    t match {
      case StringType => new OrcStringLeaf(place, vector, tally)
      case UuidType => new OrcUuidLeaf(place, vector, tally)
      case FixedType(length) => new OrcFixedLeaf(place, vector, tally, length)
      case _ => new OrcBinaryLeaf(place, vector, tally)
    }
  }
}
