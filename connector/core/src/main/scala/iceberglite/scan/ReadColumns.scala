package iceberglite.scan

import iceberglite.data.Record
import iceberglite.spec.{NestedField, Schema}
import iceberglite.spec.Type.StructType

/**
 * Columns to read: those that are wanted and, behind them at every level, what else is asked of a row, such as the keys
 * of equality deletes. What was wanted keeps its place.
 */
object ReadColumns {

  /** A field that both have stands as in `wanted`, with the parts of either. */
  def merged(wanted: Vector[NestedField], more: Vector[NestedField]): Vector[NestedField] =
    more.foldLeft(wanted) { (fields, extra) =>
      fields.indexWhere(_.id == extra.id) match {
        case -1 => fields :+ extra
        case i => fields.updated(i, merged(fields(i), extra))
      }
    }

  private def merged(wanted: NestedField, extra: NestedField): NestedField =
    (wanted.fieldType, extra.fieldType) match {
      case (StructType(a), StructType(b)) => wanted.copy(fieldType = StructType(merged(a, b)))
      case _ => wanted
    }

  /**
   * A field with the columns of the table around it, from the top; each struct holds nothing but the next. Absent where
   * the schema has no such field.
   */
  def path(schema: Schema, id: Int): Option[Vector[NestedField]] = schema.byId.get(id).map { field =>
    val outer = Iterator.iterate(schema.parents.get(id))(_.flatMap(schema.parents.get)).takeWhile(_.isDefined).flatten
    alone((Vector(field) ++ outer.map(schema.byId)).reverse)
  }

  /** Leaves in each struct of a path nothing but the next part. */
  private[scan] def alone(path: Vector[NestedField]): Vector[NestedField] =
    path.init.foldRight(Vector(path.last)) { (outer, inside) =>
      outer.fieldType match {
        case _: StructType => outer.copy(fieldType = StructType(Vector(inside.head))) +: inside
        case _ => outer +: inside
      }
    }

  /** Where a field stands in the rows: the ordinals from the top, along its ids. */
  def place(path: Vector[NestedField], read: Vector[NestedField]): Vector[Int] = {
    val at = read.indexWhere(_.id == path.head.id)
    val inside = if (path.size == 1) Vector.empty else place(path.tail, partsOf(read(at)))
    at +: inside
  }

  private def partsOf(field: NestedField): Vector[NestedField] = field.fieldType match {
    case StructType(fields) => fields
    case _ => throw new IllegalArgumentException(s"$field is no struct")
  }

  /** The value at a place; null where a struct around it is null. */
  private[scan] def valueAt(row: Record, place: Array[Int]): AnyRef = {
    var value: AnyRef = row
    var i = 0
    while (i < place.length && value != null) {
      value = value.asInstanceOf[Record](place(i))
      i += 1
    }
    value
  }
}
