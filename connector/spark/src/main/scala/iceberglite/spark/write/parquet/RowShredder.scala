package iceberglite.spark.write.parquet

import org.apache.parquet.column.{ColumnDescriptor, ColumnWriteStore}
import org.apache.parquet.schema.{GroupType, MessageType, Type => ParquetType}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{ByteType, Decimal, ShortType, StructType => SparkStruct}

import iceberglite.spark.write.InputField
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.Type._
import iceberglite.spec.{NestedType, PrimitiveType}

/** Takes rows apart into the columns of a Parquet file. */
final private[parquet] class RowShredder(fields: Array[FieldWriter], ordinals: Array[Int]) {
  private val leaves: Vector[LeafWriter] = fields.toVector.flatMap(_.leaves)

  /** Turns to the columns of the next row group. */
  def attach(store: ColumnWriteStore): Unit = leaves.foreach(_.attach(store))

  def write(row: InternalRow): Unit = {
    var i = 0
    while (i < fields.length) {
      fields(i).write(row, ordinals(i), 0)
      i += 1
    }
  }

  /** NaNs so far by field id, for the columns that can have any. */
  def nanCounts: Map[Int, Long] = leaves.flatMap(leaf => leaf.nanCount.map(leaf.fieldId -> _)).toMap
}

private[parquet] object RowShredder {
  private val MaxIntDigits = 9

  /** @param schema the file's, made of the same fields in the same order */
  def of(input: Vector[InputField], schema: MessageType): RowShredder = {
    val build = new Builder(schema)
    val writers =
      input.indices.map(i => build.field(input(i), schema.getType(i), Place(Vector.empty, Vector.empty, 0, 0)))
    new RowShredder(writers.toArray, input.map(_.ordinal).toArray)
  }

  /**
   * Where a field stands.
   *
   * @param path the names in the file
   * @param names the table's, for messages
   * @param definition the level where what holds the field is there
   * @param repetition the level of the innermost list or map around it
   */
  final private case class Place(path: Vector[String], names: Vector[String], definition: Int, repetition: Int) {
    def into(group: GroupType): Place =
      if (group.isRepetition(ParquetType.Repetition.REPEATED)) {
        copy(path :+ group.getName, definition = definition + 1, repetition = repetition + 1)
      } else copy(path :+ group.getName)
  }

  final private class Builder(schema: MessageType) {

    def field(input: InputField, node: ParquetType, place: Place): FieldWriter = {
      val optional = node.isRepetition(ParquetType.Repetition.OPTIONAL)
      val here = place.copy(
        names = place.names :+ input.field.name,
        definition = if (optional) place.definition + 1 else place.definition
      )
      val name = here.names.mkString(".")
      input.field.fieldType match {
        case t: PrimitiveType => leaf(input, t, descriptor(here.path :+ node.getName), name, optional)
        case nested: NestedType => group(input, nested, node.asGroupType, here.into(node.asGroupType), name, optional)
      }
    }

    private def group(
        input: InputField,
        t: NestedType,
        node: GroupType,
        here: Place,
        name: String,
        optional: Boolean
    ): FieldWriter = t match {
      case _: StructType =>
        val fields = input.parts.indices.map(i => field(input.parts(i), node.getType(i), here)).toArray
        new StructWriter(name, optional, here.definition, sizeOf(input), fields, input.parts.map(_.ordinal).toArray)
      case _: ListType =>
        val entries = node.getType(0).asGroupType
        val inside = here.into(entries)
        val element = field(input.parts.head, entries.getType(0), inside)
        new ListWriter(name, optional, here.definition, inside.repetition, element)
      case _: MapType =>
        val entries = node.getType(0).asGroupType
        val inside = here.into(entries)
        val key = field(input.parts.head, entries.getType(0), inside)
        val value = field(input.parts.last, entries.getType(1), inside)
        new MapWriter(name, optional, here.definition, inside.repetition, key, value)
    }

    private def sizeOf(input: InputField): Int = input.dataType match {
      case struct: SparkStruct => struct.length
      case _ => input.parts.size
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
      case BooleanType => new BooleanLeaf(column, id, name, optional)
      case IntType if input.dataType == ByteType => new ByteLeaf(column, id, name, optional)
      case IntType if input.dataType == ShortType => new ShortLeaf(column, id, name, optional)
      case IntType | DateType => new IntLeaf(column, id, name, optional)
      case LongType | TimeType | TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType =>
        new LongLeaf(column, id, name, optional)
      case FloatType => new FloatLeaf(column, id, name, optional)
      case DoubleType => new DoubleLeaf(column, id, name, optional)
      case DecimalType(p, s) if p <= MaxIntDigits => new IntDecimalLeaf(column, id, name, optional, p, s)
      case DecimalType(p, s) if p <= Decimal.MAX_LONG_DIGITS => new LongDecimalLeaf(column, id, name, optional, p, s)
      case DecimalType(p, s) => new BytesDecimalLeaf(column, id, name, optional, p, s)
      case StringType => new StringLeaf(column, id, name, optional)
      case UuidType => new UuidLeaf(column, id, name, optional)
      case FixedType(_) => new FixedLeaf(column, id, name, optional)
      case BinaryType => new BinaryLeaf(column, id, name, optional)
      case UnknownType | VariantType | _: GeometryType | _: GeographyType =>
        throw Unsupported(s"writing column $name of type $t", "Leave it out of the table")
    }
  }
}
