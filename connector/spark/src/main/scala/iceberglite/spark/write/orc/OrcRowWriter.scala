package iceberglite.spark.write.orc

import org.apache.hadoop.hive.ql.exec.vector._
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.{ByteType, Decimal, ShortType}

import iceberglite.spark.write.files.{InputField, InputSource}
import iceberglite.spark.write.metrics.FileTallies
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.types.{NestedType, PrimitiveType}
import iceberglite.spec.types.Type._

/** Puts rows into the batch from which an ORC file is written. */
final private[orc] class OrcRowWriter(fields: Array[OrcField], ordinals: Array[Int]) {

  /**
   * Puts a row into the batch.
   *
   * @param slot the index of the row in the batch
   */
  def put(row: InternalRow, slot: Int): Unit = {
    var i = 0
    while (i < fields.length) {
      fields(i).put(row, ordinals(i), slot)
      i += 1
    }
  }
}

private[orc] object OrcRowWriter {

  /**
   * Creates the writer.
   *
   * @param batch the batch, whose columns are the stored fields in the same order
   */
  def of(input: Vector[InputField], batch: VectorizedRowBatch, tallies: FileTallies): OrcRowWriter = {
    val fields = new Builder(tallies).fields(input, batch.cols, Vector.empty, counted = true)
    new OrcRowWriter(fields.toArray, input.map(_.ordinal).toArray)
  }

  final private class Builder(tallies: FileTallies) {

    /**
     * Returns the fields.
     *
     * @param vectors the vectors of the stored fields, in the same order
     * @param path the path of the enclosing field
     * @param counted whether metrics are collected; false inside lists and maps
     */
    def fields(
        inputs: Vector[InputField],
        vectors: Array[ColumnVector],
        path: Vector[String],
        counted: Boolean
    ): Vector[OrcField] = {
      val stored = vectors.iterator
      inputs.map { input =>
        if (input.isStored) storedField(input, stored.next(), path, counted)
        else new OrcUnwrittenField((path :+ input.field.name).mkString("."), input.field.fieldType)
      }
    }

    private def storedField(
        input: InputField,
        vector: ColumnVector,
        path: Vector[String],
        counted: Boolean
    ): OrcField = {
      val field = input.field.fieldType match {
        case t: PrimitiveType => leaf(input, t, vector, (path :+ input.field.name).mkString("."), counted)
        case nested: NestedType => group(input, nested, vector, path :+ input.field.name, counted)
      }
      input.source match {
        case InputSource.Rows(_) => field
        case InputSource.Constant(value) =>
          new OrcConstantField(field, new GenericInternalRow(Array[Any](value.orNull)))
      }
    }

    private def group(
        input: InputField,
        t: NestedType,
        vector: ColumnVector,
        path: Vector[String],
        counted: Boolean
    ): OrcField = {
      val name = path.mkString(".")
      val required = input.field.required
      t match {
        case _: StructType =>
          val parts = fields(input.parts, vector.asInstanceOf[StructColumnVector].fields, path, counted).toArray
          new OrcStructField(name, required, vector, input.size, parts, input.parts.map(_.ordinal).toArray)
        case _: ListType =>
          val list = vector.asInstanceOf[ListColumnVector]
          new OrcListField(name, required, list, storedField(input.parts.head, list.child, path, counted = false))
        case _: MapType =>
          val map = vector.asInstanceOf[MapColumnVector]
          val key = storedField(input.parts.head, map.keys, path, counted = false)
          val value = storedField(input.parts.last, map.values, path, counted = false)
          new OrcMapField(name, required, map, key, value)
      }
    }

    private def leaf(
        input: InputField,
        t: PrimitiveType,
        vector: ColumnVector,
        name: String,
        counted: Boolean
    ): OrcField = {
      val field = input.field
      val required = field.required
      t match {
        case FloatType =>
          new OrcFloatLeaf(name, required, vector.asInstanceOf[DoubleColumnVector], tallies.ofFloats(field, counted))
        case DoubleType =>
          new OrcDoubleLeaf(name, required, vector.asInstanceOf[DoubleColumnVector], tallies.ofDoubles(field, counted))
        case decimal: DecimalType => decimalLeaf(input, decimal, vector, name, counted)
        case TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType =>
          val times = vector.asInstanceOf[TimestampColumnVector]
          new OrcTimestampLeaf(name, required, times, tallies.ofLongs(field, counted), unitsPerSecond(t))
        case BooleanType | IntType | LongType | DateType | TimeType =>
          numberLeaf(input, t, vector.asInstanceOf[LongColumnVector], name, counted)
        case StringType | UuidType | FixedType(_) | BinaryType | _: GeometryType | _: GeographyType =>
          bytesLeaf(input, t, vector.asInstanceOf[BytesColumnVector], name, counted)
        case UnknownType | VariantType =>
          throw Unsupported(s"writing column $name of type $t", "Remove the column from the table")
      }
    }

    private def unitsPerSecond(t: PrimitiveType): Long = t match {
      case TimestampNsType | TimestampTzNsType => 1000000000L
      case _ => 1000000L
    }

    private def numberLeaf(
        input: InputField,
        t: PrimitiveType,
        vector: LongColumnVector,
        name: String,
        counted: Boolean
    ): OrcField = {
      val required = input.field.required
      val tally = tallies.ofLongs(input.field, counted)
      t match {
        case BooleanType => new OrcBooleanLeaf(name, required, vector, tally)
        case IntType if input.dataType == ByteType => new OrcByteLeaf(name, required, vector, tally)
        case IntType if input.dataType == ShortType => new OrcShortLeaf(name, required, vector, tally)
        case IntType | DateType => new OrcIntLeaf(name, required, vector, tally)
        case TimeType => new OrcTimeLeaf(name, required, vector, tally)
        case _ => new OrcLongLeaf(name, required, vector, tally)
      }
    }

    private def decimalLeaf(
        input: InputField,
        t: DecimalType,
        vector: ColumnVector,
        name: String,
        counted: Boolean
    ): OrcField =
      if (t.precision <= Decimal.MAX_LONG_DIGITS) {
        val tally = tallies.ofUnscaled(input.field, t.scale, counted)
        new OrcLongDecimalLeaf(name, input.field.required, vector.asInstanceOf[Decimal64ColumnVector], tally, t)
      } else {
        val tally = tallies.ofDecimals(input.field, counted)
        new OrcDecimalLeaf(name, input.field.required, vector.asInstanceOf[DecimalColumnVector], tally, t)
      }

    private def bytesLeaf(
        input: InputField,
        t: PrimitiveType,
        vector: BytesColumnVector,
        name: String,
        counted: Boolean
    ): OrcField = {
      val required = input.field.required
      val tally = tallies.ofBytes(input.field, t, counted)
      t match {
        case StringType => new OrcStringLeaf(name, required, vector, tally)
        case UuidType => new OrcUuidLeaf(name, required, vector, tally)
        case FixedType(length) => new OrcFixedLeaf(name, required, vector, tally, length)
        case _ => new OrcBinaryLeaf(name, required, vector, tally)
      }
    }
  }
}
