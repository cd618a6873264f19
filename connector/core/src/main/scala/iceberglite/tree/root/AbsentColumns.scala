package iceberglite.tree.root

import iceberglite.data.Record
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.StructType

/**
 * Removes optional columns that are null in all records of a file. The files become shorter, because each column needs
 * space in the footer, even if it has no values. Readers return null for columns that a file lacks.
 */
private[root] object AbsentColumns {

  /** Returns the struct and the records without the columns that are null in all records. */
  def drop(struct: StructType, rows: Vector[Record]): (StructType, Vector[Record]) = {
    val used = new UsedColumns(struct)
    rows.foreach(used.add)
    (used.struct, rows.map(used.select))
  }

  /** The columns of a struct that have a value in any record, or that are required. */
  final private class UsedColumns(all: StructType) {
    private val isUsed: Array[Boolean] = all.fields.map(_.required).toArray
    private val nested: Array[Option[UsedColumns]] = all.fields.map(_.fieldType match {
      case inner: StructType => Some(new UsedColumns(inner))
      case _ => None
    }).toArray

    def add(row: Record): Unit = {
      var i = 0
      while (i < isUsed.length) {
        row(i) match {
          case null => ()
          case inner: Record =>
            isUsed(i) = true
            if (nested(i).isDefined) nested(i).get.add(inner)
          case _ => isUsed(i) = true
        }
        i += 1
      }
    }

    private lazy val kept: Array[Int] = isUsed.indices.filter(isUsed(_)).toArray

    lazy val struct: StructType = StructType(kept.toVector.map(i => typed(all.fields(i), nested(i))))

    private def typed(field: NestedField, inner: Option[UsedColumns]): NestedField =
      inner.fold(field)(columns => field.copy(fieldType = columns.struct))

    def select(row: Record): Record = new Record(kept.map { i =>
      row(i) match {
        case inner: Record if nested(i).isDefined => nested(i).get.select(inner)
        case value => value
      }
    })
  }
}
