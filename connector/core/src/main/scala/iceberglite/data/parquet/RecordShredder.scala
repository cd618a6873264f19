package iceberglite.data.parquet

import org.apache.parquet.column.ColumnWriteStore
import org.apache.parquet.schema.{GroupType, MessageType, Type => ParquetType}

import iceberglite.data.{FieldChecks, Record, Variant}
import iceberglite.metrics.FloatingValues
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType}
import iceberglite.spec.types.Type._

/**
 * Writes one field of every record to the columns of a Parquet file. Each value has a repetition level and a definition
 * level. The repetition level is the nesting level of the list or map in which a new entry begins. The definition level
 * is the number of optional and repeated fields in the path of the value that are present.
 *
 * @param name full name of the field, for messages
 * @param optional whether the field may be null
 * @param definition definition level at which the field has a value
 */
abstract private[parquet] class RecordField(name: String, optional: Boolean, protected val definition: Int) {

  /** Writes the value of a record or entry. @param repetition repetition level of the entry that contains the value */
  final def write(value: AnyRef, repetition: Int): Unit =
    if (value != null) writeValue(value, repetition)
    else if (optional) writeAbsent(repetition, definition - 1)
    else FieldChecks.failMissing(name)

  protected def writeValue(value: AnyRef, repetition: Int): Unit

  /**
   * Writes an absent value, because the field or an enclosing field is null, or because an enclosing list or map is
   * empty.
   *
   * @param level the definition level of the absent value, which shows which field is null or empty
   */
  def writeAbsent(repetition: Int, level: Int): Unit

  def leaves: Vector[RecordLeaf]
}

final private class RecordStructField(
    name: String,
    optional: Boolean,
    definition: Int,
    fields: Array[RecordField],
    ordinals: Array[Int]
) extends RecordField(name, optional, definition) {

  override protected def writeValue(value: AnyRef, repetition: Int): Unit = {
    val record = value.asInstanceOf[Record]
    var i = 0
    while (i < fields.length) {
      fields(i).write(record(ordinals(i)), repetition)
      i += 1
    }
  }

  override def writeAbsent(repetition: Int, level: Int): Unit = fields.foreach(_.writeAbsent(repetition, level))

  override def leaves: Vector[RecordLeaf] = fields.toVector.flatMap(_.leaves)
}

/**
 * A list, whose entries have one part (the element), or a map, whose entries have two parts (key and value).
 *
 * @param repeated repetition level of the entries after the first
 */
final private class RecordRepeatedField(
    name: String,
    optional: Boolean,
    definition: Int,
    repeated: Int,
    parts: Vector[RecordField]
) extends RecordField(name, optional, definition) {

  override protected def writeValue(value: AnyRef, repetition: Int): Unit = {
    val entries = value.asInstanceOf[Vector[AnyRef]]
    if (entries.isEmpty) writeAbsent(repetition, definition)
    var level = repetition
    entries.foreach { entry =>
      entry match {
        case (key: AnyRef, mapped) if parts.size == 2 =>
          parts(0).write(key, level)
          parts(1).write(mapped.asInstanceOf[AnyRef], level)
        case (null, _) if parts.size == 2 => parts(0).write(null, level)
        case element => parts(0).write(element, level)
      }
      level = repeated
    }
  }

  override def writeAbsent(repetition: Int, level: Int): Unit = parts.foreach(_.writeAbsent(repetition, level))

  override def leaves: Vector[RecordLeaf] = parts.flatMap(_.leaves)
}

/** A variant. The file stores it in two columns, `metadata` and `value`, which have no field ids. */
final private class RecordVariantField(
    name: String,
    optional: Boolean,
    definition: Int,
    metadata: RecordLeaf,
    value: RecordLeaf
) extends RecordField(name, optional, definition) {

  override protected def writeValue(written: AnyRef, repetition: Int): Unit = {
    val variant = written.asInstanceOf[Variant]
    metadata.write(variant.metadata, repetition)
    value.write(variant.value, repetition)
  }

  override def writeAbsent(repetition: Int, level: Int): Unit = {
    metadata.writeAbsent(repetition, level)
    value.writeAbsent(repetition, level)
  }

  override def leaves: Vector[RecordLeaf] = Vector(metadata, value)
}

/** Splits records into the columns of a Parquet file. */
final private[parquet] class RecordShredder(fields: Array[RecordField], ordinals: Array[Int]) {
  private val leaves: Vector[RecordLeaf] = fields.toVector.flatMap(_.leaves)

  /** Switches to the columns of the next row group. */
  def attach(store: ColumnWriteStore): Unit = leaves.foreach(_.attach(store))

  def write(record: Record): Unit = {
    var i = 0
    while (i < fields.length) {
      fields(i).write(record(ordinals(i)), 0)
      i += 1
    }
  }

  /** Returns the metrics of the floating point columns by field id. */
  def floating: Map[Int, FloatingValues] = leaves.flatMap(leaf => leaf.floating.map(leaf.fieldId -> _)).toMap
}

private[parquet] object RecordShredder {

  /**
   * Returns the shredder for a schema.
   *
   * @param file the Parquet schema that [[iceberglite.parquet.ParquetSchemas]] returns for the schema
   */
  def of(schema: Schema, file: MessageType): RecordShredder = {
    val builder = new FieldBuilder(file)
    val (fields, ordinals) = builder.fields(schema.fields, file, NodePosition(Vector.empty, Vector.empty, 0, 0))
    new RecordShredder(fields, ordinals)
  }

  /**
   * The position of a field in the schema.
   *
   * @param path names in the file
   * @param names names in the table, for messages
   * @param definition definition level at which the parent of the field is present
   * @param repetition repetition level of the innermost enclosing list or map
   */
  final private case class NodePosition(path: Vector[String], names: Vector[String], definition: Int, repetition: Int) {
    def inside(group: GroupType): NodePosition =
      if (group.isRepetition(ParquetType.Repetition.REPEATED)) {
        copy(path :+ group.getName, definition = definition + 1, repetition = repetition + 1)
      } else copy(path :+ group.getName)
  }

  final private class FieldBuilder(file: MessageType) {

    /**
     * Returns the fields that the file stores, and their indexes in the record. Fields of type unknown are not stored.
     */
    def fields(input: Vector[NestedField], group: GroupType, parent: NodePosition): (Array[RecordField], Array[Int]) = {
      val stored = input.zipWithIndex.filterNot { case (f, _) => f.fieldType == UnknownType }
      val children = stored.zipWithIndex.map { case ((f, _), i) => field(f, group.getType(i), parent) }
      (children.toArray, stored.map(_._2).toArray)
    }

    private def field(f: NestedField, node: ParquetType, parent: NodePosition): RecordField = {
      val optional = node.isRepetition(ParquetType.Repetition.OPTIONAL)
      val position = parent.copy(
        names = parent.names :+ f.name,
        definition = if (optional) parent.definition + 1 else parent.definition
      )
      f.fieldType match {
        case VariantType => variant(f, node.asGroupType, position.inside(node.asGroupType), optional)
        case t: PrimitiveType => leaf(f.id, t, position.path :+ node.getName, position.names, optional)
        case nested: NestedType => group(nested, node.asGroupType, position.inside(node.asGroupType), optional)
      }
    }

    private def group(t: NestedType, node: GroupType, position: NodePosition, optional: Boolean): RecordField = {
      val name = position.names.mkString(".")
      t match {
        case StructType(structFields) =>
          val (children, ordinals) = fields(structFields, node, position)
          new RecordStructField(name, optional, position.definition, children, ordinals)
        case _: ListType | _: MapType =>
          val entries = node.getType(0).asGroupType
          val entryPosition = position.inside(entries)
          val parts = t.fields.zipWithIndex.map { case (part, i) => field(part, entries.getType(i), entryPosition) }
          new RecordRepeatedField(name, optional, position.definition, entryPosition.repetition, parts)
      }
    }

    private def variant(f: NestedField, node: GroupType, position: NodePosition, optional: Boolean): RecordField = {
      def part(i: Int): RecordLeaf =
        leaf(f.id, BinaryType, position.path :+ node.getType(i).getName, position.names, optional = false)
      new RecordVariantField(position.names.mkString("."), optional, position.definition, part(0), part(1))
    }

    private def leaf(
        id: Int,
        t: PrimitiveType,
        path: Vector[String],
        names: Vector[String],
        optional: Boolean
    ): RecordLeaf = RecordLeaf.of(file.getColumnDescription(path.toArray), id, t, names.mkString("."), optional)
  }
}
