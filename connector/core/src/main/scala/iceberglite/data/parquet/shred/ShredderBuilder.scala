package iceberglite.data.parquet.shred

import org.apache.parquet.schema.{GroupType, MessageType, Type => ParquetType}

import iceberglite.data.RowField
import iceberglite.spec.types.Type._

/**
 * Creates the shredder of a file.
 *
 * @param file the schema of the file, which contains the stored fields in the same order
 * @tparam F the description of a field of the rows
 * @tparam V a row, a struct, or the values of a list
 */
abstract private[iceberglite] class ShredderBuilder[F <: RowField[F], V](file: MessageType, rows: RowSource[V]) {
  import ShredderBuilder._

  /** Returns the shredder of a field of a primitive type. */
  protected def leaf(field: F, column: LeafColumn): LeafShredder[V]

  /**
   * Returns the shredder of a field that the file does not contain, or `None` if the values of the field are ignored.
   */
  protected def unstored(field: F, name: String): Option[FieldShredder[V]]

  /** Returns the shredder of a field that takes its values from the source of the field. */
  protected def fromSource(field: F, shredder: FieldShredder[V]): FieldShredder[V]

  final def shredder(fields: Vector[F]): Shredder[V] = {
    val written = structFields(fields, file, Position(Vector.empty, Vector.empty, 0, 0))
    new Shredder(written.map(_._1).toArray, written.map(_._2).toArray)
  }

  /** Returns the shredders of fields and their ordinals. @param group contains the stored fields, in the same order */
  private def structFields(
      fields: Vector[F],
      group: GroupType,
      parent: Position
  ): Vector[(FieldShredder[V], Int)] = {
    val nodes = group.getFields.iterator
    fields.flatMap { f =>
      val shredder =
        if (f.isStored) Some(stored(f, nodes.next(), parent))
        else unstored(f, (parent.names :+ f.field.name).mkString("."))
      shredder.map(_ -> f.ordinal)
    }
  }

  private def stored(f: F, node: ParquetType, parent: Position): FieldShredder[V] = {
    val optional = node.isRepetition(ParquetType.Repetition.OPTIONAL)
    val position = parent.copy(
      path = parent.path :+ node.getName,
      names = parent.names :+ f.field.name,
      definition = if (optional) parent.definition + 1 else parent.definition
    )
    val name = position.names.mkString(".")
    val shredder =
      if (node.isPrimitive) {
        leaf(f, LeafColumn(file.getColumnDescription(position.path.toArray), f.field.id, name, optional))
      } else group(f, node.asGroupType, position, GroupPlace(name, optional, position.definition))
    fromSource(f, shredder)
  }

  private def group(f: F, node: GroupType, position: Position, place: GroupPlace): FieldShredder[V] = {
    def entries: GroupType = node.getType(0).asGroupType
    def entry(i: Int): FieldShredder[V] = stored(f.parts(i), entries.getType(i), position.entry(entries))
    f.field.fieldType match {
      case _: ListType => new ListShredder(place, rows, position.repetition + 1, entry(0))
      case _: MapType => new MapShredder(place, rows, position.repetition + 1, entry(0), entry(1))
      case _ =>
        val fields = structFields(f.parts, node, position)
        new StructShredder(place, rows, f.size, fields.map(_._1).toArray, fields.map(_._2).toArray)
    }
  }
}

private object ShredderBuilder {

  /**
   * The position of a field, or of the entries of a list or map.
   *
   * @param path the names in the file
   * @param names the names in the table, for messages
   * @param definition the definition level at which the field is present
   * @param repetition the repetition level of the innermost list or map that contains the parts of the field
   */
  final case class Position(path: Vector[String], names: Vector[String], definition: Int, repetition: Int) {
    def entry(entries: GroupType): Position =
      copy(path :+ entries.getName, definition = definition + 1, repetition = repetition + 1)
  }
}
