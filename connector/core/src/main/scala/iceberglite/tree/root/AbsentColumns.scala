package iceberglite.tree.root

import iceberglite.data.Record
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.StructType

/**
 * Removes optional columns that are null in all records of a file. Readers return null for columns that a file lacks.
 * Each column needs space in the footer, even if it has no values.
 */
private[root] object AbsentColumns {

  /** Returns the struct and the records without the columns that are null in all records. */
  def drop(struct: StructType, rows: Vector[Record]): (StructType, Vector[Record]) = {
    val kept = struct.fields.zipWithIndex.filter { case (f, i) => f.required || rows.exists(r => hasValue(r(i))) }
    val parts = kept.map { case (f, i) => dropIn(f, rows.map(_(i))) }
    val columns = parts.map(_._2)
    (StructType(parts.map(_._1)), rows.indices.map(row => new Record(columns.map(_(row)).toArray)).toVector)
  }

  private def hasValue(value: AnyRef): Boolean = Option(value).isDefined

  private def dropIn(field: NestedField, values: Vector[AnyRef]): (NestedField, Vector[AnyRef]) =
    field.fieldType match {
      case nested: StructType =>
        val (struct, present) = drop(nested, values.collect { case r: Record => r })
        val next = present.iterator
        val replaced = values.map {
          case _: Record => next.next()
          case other => other
        }
        (field.copy(fieldType = struct), replaced)
      case _ => (field, values)
    }
}
