package iceberglite.scan

import iceberglite.data.Record
import iceberglite.spec.schema.MetadataColumns
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type.StructType

/**
 * Converts the rows that were read from a file to the requested columns. Columns of row lineage are computed (spec
 * version 3: "Row lineage").
 */
final private[scan] class RowOutput(requested: Vector[NestedField], task: FileScanTask) {

  /**
   * The columns to read from the file. The position column is added if row ids are requested, because row ids are
   * computed from positions. In a file without a first row id, the row lineage columns are not read, because they are
   * null even if the file stores them.
   */
  val stored: Vector[NestedField] = {
    val needed = requested.flatMap { f =>
      f.id match {
        case MetadataColumns.RowId.id => task.file.firstRowId.toVector.flatMap(_ => Vector(f, MetadataColumns.Position))
        case MetadataColumns.LastUpdatedSequenceNumber.id => task.file.firstRowId.toVector.map(_ => f)
        case _ => Vector(f)
      }
    }
    needed.foldLeft(Vector.empty[NestedField])((kept, f) => if (kept.exists(_.id == f.id)) kept else kept :+ f)
  }

  /**
   * Returns a function that converts rows with the columns `read` to the requested columns. `isDeleted` determines the
   * values of the column `_deleted`.
   */
  def of(read: Vector[NestedField], isDeleted: Record => Boolean): Record => Record =
    if (read == requested && !requested.exists(f => isComputed(f.id))) identity
    else {
      val columns = requested.map(f => if (isDeletedColumn(f.id)) deletedValue(isDeleted) else column(f, read)).toArray
      row => {
        val values = new Array[AnyRef](columns.length)
        var i = 0
        while (i < values.length) {
          values(i) = columns(i)(row)
          i += 1
        }
        new Record(values)
      }
    }

  private def isComputed(id: Int): Boolean = isLineage(id) || isDeletedColumn(id)

  private def isDeletedColumn(id: Int): Boolean = id == MetadataColumns.Deleted.id

  private def deletedValue(isDeleted: Record => Boolean): Record => AnyRef = row => Boolean.box(isDeleted(row))

  private def isLineage(id: Int): Boolean =
    id == MetadataColumns.RowId.id || id == MetadataColumns.LastUpdatedSequenceNumber.id

  private def column(field: NestedField, read: Vector[NestedField]): Record => AnyRef = {
    val ordinal = read.indexWhere(_.id == field.id)
    (field.id, task.file.firstRowId) match {
      case (MetadataColumns.RowId.id, Some(first)) =>
        val position = read.indexWhere(_.id == MetadataColumns.Position.id)
        row => if (row(ordinal) != null) row(ordinal) else Long.box(first + TableRows.long(row(position)))
      case (MetadataColumns.LastUpdatedSequenceNumber.id, Some(_)) =>
        val number = Long.box(task.dataSequenceNumber)
        row => if (row(ordinal) != null) row(ordinal) else number
      case (id, None) if isLineage(id) => _ => null
      case _ =>
        val narrow = narrowed(field.fieldType, read(ordinal).fieldType)
        row => narrow(row(ordinal))
    }
  }

  /** Removes the struct fields that were read only for deletes and filters; these come after the requested fields. */
  private def narrowed(requested: Type, read: Type): AnyRef => AnyRef = (requested, read) match {
    case (StructType(fields), StructType(all)) if requested != read =>
      val parts = fields.zip(all).map { case (f, r) => narrowed(f.fieldType, r.fieldType) }.toArray
      value => if (value == null) null else narrowStruct(value.asInstanceOf[Record], parts)
    case _ => identity
  }

  private def narrowStruct(struct: Record, parts: Array[AnyRef => AnyRef]): Record = {
    val values = new Array[AnyRef](parts.length)
    var i = 0
    while (i < values.length) {
      values(i) = parts(i)(struct(i))
      i += 1
    }
    new Record(values)
  }
}
