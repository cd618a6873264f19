package iceberglite.data

import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.StructType

/**
 * Determines the columns to read: the requested columns, and additional fields such as the keys of equality deletes. At
 * every level, additional fields come last, so that requested columns keep their positions.
 */
object ReadColumns {

  /** Merges columns. A field in both lists has the position in `requested` and the subfields of both. */
  def merge(requested: Vector[NestedField], more: Vector[NestedField]): Vector[NestedField] =
    more.foldLeft(requested) { (fields, field) =>
      fields.indexWhere(_.id == field.id) match {
        case -1 => fields :+ field
        case i => fields.updated(i, merge(fields(i), field))
      }
    }

  private def merge(requested: NestedField, field: NestedField): NestedField =
    (requested.fieldType, field.fieldType) match {
      case (StructType(a), StructType(b)) => requested.copy(fieldType = StructType(merge(a, b)))
      case _ => requested
    }

  /**
   * Returns the path to a field, from the top-level column to the field itself; absent if the schema has no such field.
   * Each struct on the path is reduced to the next field of the path.
   */
  def path(schema: Schema, id: Int): Option[Vector[NestedField]] = schema.byId.get(id).map { field =>
    val outer = Iterator.iterate(schema.parents.get(id))(_.flatMap(schema.parents.get)).takeWhile(_.isDefined).flatten
    pruneToPath((Vector(field) ++ outer.map(schema.byId)).reverse)
  }

  /** Reduces each struct of a path to the next field of the path. */
  private[iceberglite] def pruneToPath(path: Vector[NestedField]): Vector[NestedField] =
    path.init.foldRight(Vector(path.last)) { (outer, inside) =>
      outer.fieldType match {
        case _: StructType => outer.copy(fieldType = StructType(Vector(inside.head))) +: inside
        case _ => outer +: inside
      }
    }

  /**
   * Returns the position of a field in the rows, as one ordinal per level, starting at the top level. Fields are
   * matched by id.
   */
  def ordinalPath(path: Vector[NestedField], read: Vector[NestedField]): Vector[Int] = {
    val ordinal = read.indexWhere(_.id == path.head.id)
    val inside = if (path.size == 1) Vector.empty else ordinalPath(path.tail, subfieldsOf(read(ordinal)))
    ordinal +: inside
  }

  private def subfieldsOf(field: NestedField): Vector[NestedField] = field.fieldType match {
    case StructType(fields) => fields
    case _ => throw new IllegalArgumentException(s"The field $field is not a struct")
  }

  /** Returns the value at an ordinal path; null if an enclosing struct is null. */
  private[iceberglite] def valueAt(row: Record, ordinalPath: Array[Int]): AnyRef = {
    var value: AnyRef = row
    var i = 0
    while (i < ordinalPath.length && value != null) {
      value = value.asInstanceOf[Record](ordinalPath(i))
      i += 1
    }
    value
  }
}
