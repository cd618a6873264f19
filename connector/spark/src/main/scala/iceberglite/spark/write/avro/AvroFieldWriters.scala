package iceberglite.spark.write.avro

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.{ByteType, Decimal, ShortType}

import iceberglite.avro.AvroOutput
import iceberglite.spark.write.files.{InputField, InputSource}
import iceberglite.spark.write.metrics.FileTallies
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.types.{NestedType, PrimitiveType}
import iceberglite.spec.types.Type._

/** Encodes the rows of one file. */
final private[avro] class AvroFieldWriters(fields: Array[AvroField], ordinals: Array[Int]) {
  def put(row: InternalRow, out: AvroOutput): Unit = {
    var i = 0
    while (i < fields.length) {
      fields(i).put(row, ordinals(i), out)
      i += 1
    }
  }
}

private[avro] object AvroFieldWriters {
  def of(input: Vector[InputField], tallies: FileTallies): AvroFieldWriters = {
    val fields = new Builder(tallies).fields(input, Vector.empty, counted = true)
    new AvroFieldWriters(fields.toArray, input.map(_.ordinal).toArray)
  }

  final private class Builder(tallies: FileTallies) {

    /**
     * Returns the encoders of fields.
     *
     * @param path the path of the enclosing field
     * @param counted whether metrics are collected; false inside lists and maps
     */
    def fields(inputs: Vector[InputField], path: Vector[String], counted: Boolean): Vector[AvroField] =
      inputs.map { input =>
        if (input.isStored) storedField(input, path, counted)
        else new AvroUnwrittenField((path :+ input.field.name).mkString("."), input.field.fieldType)
      }

    private def storedField(input: InputField, path: Vector[String], counted: Boolean): AvroField = {
      val field = input.field.fieldType match {
        case t: PrimitiveType => leaf(input, t, (path :+ input.field.name).mkString("."), counted)
        case nested: NestedType => group(input, nested, path :+ input.field.name, counted)
      }
      input.source match {
        case InputSource.Rows(_) => field
        case InputSource.Constant(value) =>
          new AvroConstantField(field, new GenericInternalRow(Array[Any](value.orNull)))
      }
    }

    private def group(input: InputField, t: NestedType, path: Vector[String], counted: Boolean): AvroField = {
      val name = path.mkString(".")
      val required = input.field.required
      t match {
        case _: StructType =>
          val parts = fields(input.parts, path, counted).toArray
          new AvroStructField(name, required, input.size, parts, input.parts.map(_.ordinal).toArray)
        case _: ListType => new AvroListField(name, required, storedField(input.parts.head, path, counted = false))
        case _: MapType =>
          val key = storedField(input.parts.head, path, counted = false)
          new AvroMapField(name, required, key, storedField(input.parts.last, path, counted = false))
      }
    }

    private def leaf(input: InputField, t: PrimitiveType, name: String, counted: Boolean): AvroField = {
      val field = input.field
      val required = field.required
      t match {
        case FloatType => new AvroFloatLeaf(name, required, tallies.ofFloats(field, counted))
        case DoubleType => new AvroDoubleLeaf(name, required, tallies.ofDoubles(field, counted))
        case decimal: DecimalType if decimal.precision <= Decimal.MAX_LONG_DIGITS =>
          new AvroLongDecimalLeaf(name, required, tallies.ofUnscaled(field, decimal.scale, counted), decimal)
        case decimal: DecimalType => new AvroDecimalLeaf(name, required, tallies.ofDecimals(field, counted), decimal)
        case BooleanType | IntType | LongType | DateType | TimeType | TimestampType | TimestampTzType |
            TimestampNsType | TimestampTzNsType =>
          numberLeaf(input, t, name, counted)
        case StringType | UuidType | FixedType(_) | BinaryType | _: GeometryType | _: GeographyType =>
          bytesLeaf(input, t, name, counted)
        case UnknownType | VariantType =>
          throw Unsupported(s"writing column $name of type $t", "Remove the column from the table")
      }
    }

    private def numberLeaf(input: InputField, t: PrimitiveType, name: String, counted: Boolean): AvroField = {
      val required = input.field.required
      val tally = tallies.ofLongs(input.field, counted)
      t match {
        case BooleanType => new AvroBooleanLeaf(name, required, tally)
        case IntType if input.dataType == ByteType => new AvroByteLeaf(name, required, tally)
        case IntType if input.dataType == ShortType => new AvroShortLeaf(name, required, tally)
        case IntType | DateType => new AvroIntLeaf(name, required, tally)
        case TimeType => new AvroTimeLeaf(name, required, tally)
        case _ => new AvroLongLeaf(name, required, tally)
      }
    }

    private def bytesLeaf(input: InputField, t: PrimitiveType, name: String, counted: Boolean): AvroField = {
      val required = input.field.required
      val tally = tallies.ofBytes(input.field, t, counted)
      t match {
        case StringType => new AvroStringLeaf(name, required, tally)
        case UuidType => new AvroUuidLeaf(name, required, tally)
        case FixedType(length) => new AvroFixedLeaf(name, required, tally, length)
        case _ => new AvroBinaryLeaf(name, required, tally)
      }
    }
  }
}
