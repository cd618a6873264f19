package iceberglite.data.parquet.shred

import org.apache.parquet.column.{ColumnDescriptor, ColumnWriteStore, ColumnWriter}

import iceberglite.data.RowSource
import iceberglite.metrics.CollectedValues

/** Writes rows to the columns of a Parquet file by record shredding; see [[FieldShredder]]. */
final private[iceberglite] class Shredder[V](fields: Array[FieldShredder[V]], ordinals: Array[Int]) {
  private val leaves: Vector[FileColumn] = fields.toVector.flatMap(_.leaves)

  /** Switches to the columns of the next row group. */
  def attach(store: ColumnWriteStore): Unit = leaves.foreach(_.attach(store))

  def write(row: V): Unit = {
    var i = 0
    while (i < fields.length) {
      fields(i).write(row, ordinals(i), 0)
      i += 1
    }
  }

  /**
   * Returns the metrics that are not in the footer, by field id: those of floating-point columns and of columns of
   * geometries.
   */
  def collected: Map[Int, CollectedValues] = leaves.flatMap(leaf => leaf.collected.map(leaf.fieldId -> _)).toMap
}

/**
 * Writes one field of every row to the columns of a Parquet file by record shredding. Each value has a repetition level
 * and a definition level. The repetition level is the nesting level of the list or map in which a new entry begins. The
 * definition level is the number of optional and repeated fields in the path of the value that are present.
 */
abstract private[iceberglite] class FieldShredder[V] {

  /**
   * Writes the value at an ordinal of a row, a struct or a list. The value may be null.
   *
   * @param repetition the repetition level of the list or map entry that contains the value
   */
  def write(values: V, ordinal: Int, repetition: Int): Unit

  /**
   * Writes an absent value, because an enclosing field is null or empty.
   *
   * @param level the definition level at which the enclosing field is null or empty
   */
  def writeAbsent(repetition: Int, level: Int): Unit

  /** The columns in the order of the file's schema. */
  def leaves: Vector[FileColumn]
}

/** A column of the file, to which values are written. */
private[iceberglite] trait FileColumn {
  def fieldId: Int

  /** Switches to the column of the next row group. */
  def attach(store: ColumnWriteStore): Unit

  /** The metrics that the footer of the file does not contain; absent for most columns. */
  def collected: Option[CollectedValues] = None
}

/**
 * A field that the file contains.
 *
 * @param name the full name, for messages
 * @param optional whether the field may be null
 * @param definition the definition level at which the field has a value
 */
abstract private[shred] class StoredShredder[V](
    name: String,
    optional: Boolean,
    protected val definition: Int,
    rows: RowSource[V]
) extends FieldShredder[V] {
  final protected def writeNull(repetition: Int): Unit =
    if (optional) writeAbsent(repetition, definition - 1) else rows.failNull(name)
}

/** A column of the file. @param name the full name of the field, for messages */
final private[iceberglite] case class LeafColumn(
    descriptor: ColumnDescriptor,
    fieldId: Int,
    name: String,
    optional: Boolean
)

/**
 * Writes primitive values to one column of the file. Each kind of value has its own class with its own `write`, so that
 * writing a value needs only one virtual call.
 */
abstract private[iceberglite] class LeafShredder[V](target: LeafColumn, rows: RowSource[V])
    extends StoredShredder[V](target.name, target.optional, target.descriptor.getMaxDefinitionLevel, rows)
    with FileColumn {

  /** The column of the current row group. */
  protected var column: ColumnWriter = _

  final override def fieldId: Int = target.fieldId

  final override def attach(store: ColumnWriteStore): Unit = column = store.getColumnWriter(target.descriptor)

  final override def writeAbsent(repetition: Int, level: Int): Unit = column.writeNull(repetition, level)

  final override def leaves: Vector[FileColumn] = Vector(this)
}
