package iceberglite.spark.write.parquet

import org.apache.parquet.column.{ColumnDescriptor, ColumnWriteStore}
import org.apache.parquet.schema.{GroupType, MessageType, Type => ParquetType}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.{ByteType, Decimal, ShortType}

import iceberglite.metrics.FloatingValues
import iceberglite.spark.write.files.{InputField, InputSource}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.types.{NestedType, PrimitiveType}
import iceberglite.spec.types.Type._

/** Shreds rows into the columns of a Parquet file. */
final private[parquet] class RowShredder(fields: Array[FieldWriter], ordinals: Array[Int]) {
  private val leaves: Vector[LeafWriter] = fields.toVector.flatMap(_.leaves)

  /** Switches to the columns of the next row group. */
  def attach(store: ColumnWriteStore): Unit = leaves.foreach(_.attach(store))

  def write(row: InternalRow): Unit = {
    var i = 0
    while (i < fields.length) {
      fields(i).write(row, ordinals(i), 0)
      i += 1
    }
  }

  /** Returns the statistics of floating-point columns, by field id. */
  def floating: Map[Int, FloatingValues] = leaves.flatMap(leaf => leaf.floating.map(leaf.fieldId -> _)).toMap
}

private[parquet] object RowShredder {
  private val MaxIntDigits = 9

  /**
   * Creates a shredder.
   *
   * @param schema the schema of the file, which contains the stored fields in the same order
   */
  def of(input: Vector[InputField], schema: MessageType): RowShredder = {
    val writers = new Builder(schema).fields(input, schema, FieldPosition(Vector.empty, Vector.empty, 0, 0))
    new RowShredder(writers.toArray, input.map(_.ordinal).toArray)
  }

  /**
   * The position at which the fields of an enclosing struct, list or map are written.
   *
   * @param path the names of the enclosing groups in the file
   * @param names the names of the enclosing fields in the table, for messages
   * @param definition the definition level at which the enclosing field is present
   * @param repetition the repetition level of the innermost enclosing list or map
   */
  final private case class FieldPosition(
      path: Vector[String],
      names: Vector[String],
      definition: Int,
      repetition: Int
  ) {
    def child(group: GroupType): FieldPosition =
      if (group.isRepetition(ParquetType.Repetition.REPEATED)) {
        copy(path :+ group.getName, definition = definition + 1, repetition = repetition + 1)
      } else copy(path :+ group.getName)
  }

  final private class Builder(schema: MessageType) {

    /**
     * Returns the writers of fields.
     *
     * @param group contains the stored fields, in the same order
     */
    def fields(inputs: Vector[InputField], group: GroupType, position: FieldPosition): Vector[FieldWriter] = {
      val nodes = group.getFields.iterator
      inputs.map { input =>
        if (input.isStored) storedField(input, nodes.next(), position)
        else new ParquetUnwrittenField((position.names :+ input.field.name).mkString("."), input.field.fieldType)
      }
    }

    private def storedField(input: InputField, node: ParquetType, position: FieldPosition): FieldWriter = {
      val writer = field(input, node, position)
      input.source match {
        case InputSource.Rows(_) => writer
        case InputSource.Constant(value) =>
          val optional = node.isRepetition(ParquetType.Repetition.OPTIONAL)
          val constant = new GenericInternalRow(Array[Any](value.orNull))
          new ConstantWriter(input.field.name, optional, position.definition, writer, constant)
      }
    }

    private def field(input: InputField, node: ParquetType, position: FieldPosition): FieldWriter = {
      val optional = node.isRepetition(ParquetType.Repetition.OPTIONAL)
      val ownPosition = position.copy(
        names = position.names :+ input.field.name,
        definition = if (optional) position.definition + 1 else position.definition
      )
      val name = ownPosition.names.mkString(".")
      input.field.fieldType match {
        case t: PrimitiveType => leaf(input, t, descriptor(ownPosition.path :+ node.getName), name, optional)
        case nested: NestedType =>
          group(input, nested, node.asGroupType, ownPosition.child(node.asGroupType), name, optional)
      }
    }

    private def group(
        input: InputField,
        t: NestedType,
        node: GroupType,
        ownPosition: FieldPosition,
        name: String,
        optional: Boolean
    ): FieldWriter = t match {
      case _: StructType =>
        val writers = fields(input.parts, node, ownPosition).toArray
        new StructWriter(
          name,
          optional,
          ownPosition.definition,
          input.size,
          writers,
          input.parts.map(_.ordinal).toArray
        )
      case _: ListType =>
        val entries = node.getType(0).asGroupType
        val entryPosition = ownPosition.child(entries)
        val element = storedField(input.parts.head, entries.getType(0), entryPosition)
        new ListWriter(name, optional, ownPosition.definition, entryPosition.repetition, element)
      case _: MapType =>
        val entries = node.getType(0).asGroupType
        val entryPosition = ownPosition.child(entries)
        val key = storedField(input.parts.head, entries.getType(0), entryPosition)
        val value = storedField(input.parts.last, entries.getType(1), entryPosition)
        new MapWriter(name, optional, ownPosition.definition, entryPosition.repetition, key, value)
    }

    private def descriptor(path: Vector[String]): ColumnDescriptor = schema.getColumnDescription(path.toArray)
  }

  private def leaf(
      input: InputField,
      t: PrimitiveType,
      column: ColumnDescriptor,
      name: String,
      optional: Boolean
  ): LeafWriter = {
    val id = input.field.id
    t match {
      case BooleanType => new ParquetBooleanLeaf(column, id, name, optional)
      case IntType if input.dataType == ByteType => new ParquetByteLeaf(column, id, name, optional)
      case IntType if input.dataType == ShortType => new ParquetShortLeaf(column, id, name, optional)
      case IntType | DateType => new ParquetIntLeaf(column, id, name, optional)
      case TimeType => new ParquetTimeLeaf(column, id, name, optional)
      case LongType | TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType =>
        new ParquetLongLeaf(column, id, name, optional)
      case FloatType => new ParquetFloatLeaf(column, id, name, optional)
      case DoubleType => new ParquetDoubleLeaf(column, id, name, optional)
      case DecimalType(p, s) if p <= MaxIntDigits => new ParquetIntDecimalLeaf(column, id, name, optional, p, s)
      case DecimalType(p, s) if p <= Decimal.MAX_LONG_DIGITS =>
        new ParquetLongDecimalLeaf(column, id, name, optional, p, s)
      case DecimalType(p, s) => new ParquetBytesDecimalLeaf(column, id, name, optional, p, s)
      case StringType => new ParquetStringLeaf(column, id, name, optional)
      case UuidType => new ParquetUuidLeaf(column, id, name, optional)
      case FixedType(_) => new ParquetFixedLeaf(column, id, name, optional)
      case BinaryType | _: GeometryType | _: GeographyType => new ParquetBinaryLeaf(column, id, name, optional)
      case UnknownType | VariantType =>
        throw Unsupported(s"writing column $name of type $t", "Remove the column from the table")
    }
  }
}
