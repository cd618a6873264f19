package iceberglite.scan.stream

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.spec.types.Type.StructType

/**
 * Compares the columns of a running stream with those of a newer version of its table. Columns are compared by field
 * id, so that renamed and reordered columns are the same columns.
 */
object StreamColumns {

  /**
   * Checks that a running stream reads all columns of the table with their current types.
   *
   * @param table the name of the table
   * @param read the columns that the stream reads
   * @param current the columns of the newest version of the table
   * @throws ValidationFailed if columns were added or dropped, have another type, or may be null now. The message names
   *   the columns, and says that a restarted query continues
   */
  def check(table: String, read: Schema, current: Schema): Unit =
    if (read.fields != current.fields) {
      val changed = changes(read, current)
      if (changed.nonEmpty) throw ValidationFailed(
        s"The columns of $table changed while a stream reads them: ${changed.mkString("; ")}. A running query " +
          "returns the columns that the table had when its DataFrame was created. Create the DataFrame again, and " +
          "start the query with the same checkpoint location: it continues where it stopped"
      )
    }

  /**
   * Returns the columns with which a stream reads the current version of a table. The columns of the stream were fixed
   * when its DataFrame was created. These columns have their current types and names. Columns that were dropped since
   * then are kept, and are null in newer rows. Columns that were added since then are omitted.
   *
   * @param fixed the columns of the stream when its DataFrame was created
   */
  def ofFixed(fixed: Schema, current: Schema): Schema =
    current.copy(fields = ofFixed(fixed.fields, current.fields), identifierFieldIds = Set.empty)

  private def ofFixed(fixed: Vector[NestedField], current: Vector[NestedField]): Vector[NestedField] =
    fixed.flatMap { field =>
      current.find(_.id == field.id) match {
        case Some(now) => (field.fieldType, now.fieldType) match {
            case (StructType(read), StructType(fields)) =>
              Some(now.copy(fieldType = StructType(ofFixed(read, fields))))
            case _ => Some(now)
          }
        case None => Some(field).filterNot(_.required)
      }
    }

  /** Returns the changes of columns that a running stream cannot follow, for messages; empty if there are none. */
  private[stream] def changes(read: Schema, current: Schema): Vector[String] = {
    def outermost(ids: Set[Int], schema: Schema): Vector[String] =
      (ids -- ids.filter(id => schema.parents.get(id).exists(ids))).toVector.map(schema.names).sorted
    val (before, after) = (read.byId, current.byId)
    val added = outermost(after.keySet -- before.keySet, current).map(name => s"column $name was added")
    val dropped = outermost(before.keySet -- after.keySet, read).map(name => s"column $name was dropped")
    val changed = before.keySet.intersect(after.keySet).toVector.sorted
      .flatMap(id => changeOf(before(id), after(id)).map(change => s"column ${current.names(id)} $change"))
    added ++ dropped ++ changed
  }

  /** Returns the columns with another name, which a running stream can follow, for messages. */
  private[stream] def renames(read: Schema, current: Schema): Vector[String] = {
    val (before, after) = (read.byId, current.byId)
    before.keySet.intersect(after.keySet).toVector.sorted.filter(id => before(id).name != after(id).name)
      .map(id => s"column ${read.names(id)} was renamed to ${current.names(id)}")
  }

  private def changeOf(read: NestedField, current: NestedField): Option[String] =
    (read.fieldType, current.fieldType) match {
      case (known: PrimitiveType, other) if known != other => Some(s"has the type $other instead of $known")
      case _ if read.required && !current.required => Some("may be null now")
      case _ => None
    }
}
