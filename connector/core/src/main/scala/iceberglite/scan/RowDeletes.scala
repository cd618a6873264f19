package iceberglite.scan

import iceberglite.data.Record
import iceberglite.io.puffin.DeletionVector
import iceberglite.spec.NestedField

/**
 * Which rows of one data file are deleted.
 *
 * @param positions the rows that a deletion vector or position delete files name
 * @param keys the rows that equality delete files name, one for each set of delete columns
 */
final class RowDeletes(val positions: DeletionVector, val keys: Vector[DeletedKeys]) {
  def isEmpty: Boolean = positions.isEmpty && keys.forall(_.isEmpty)

  /** What is to be read of a row to tell whether it is deleted, its position not counted. */
  def columns: Vector[NestedField] = keys.filterNot(_.isEmpty).flatMap(_.columns).map(_.column)
}

object RowDeletes {
  val None: RowDeletes = new RowDeletes(DeletionVector.Empty, Vector.empty)
}

/**
 * The keys of deleted rows: a row whose values are equal in all columns is deleted, null being equal to null (spec:
 * "Equality Delete Files").
 *
 * @param sets the keys, each in the order of the columns; a row is deleted that is in any of them
 */
final class DeletedKeys(val columns: Vector[KeyColumn], val sets: Vector[KeySet]) {
  def isEmpty: Boolean = sets.forall(_.isEmpty)

  /** Tests rows of these columns. The test is one thread's. */
  def in(read: Vector[NestedField]): Record => Boolean = {
    val keyOf = new KeyOf(columns, read)
    val key = new KeyBuffer
    row => {
      key.clear()
      keyOf(row).values.foreach(key.put)
      sets.exists(_.contains(key))
    }
  }
}

/** Takes the key out of rows; the record that it gives is the same each time. */
final private[scan] class KeyOf(columns: Vector[KeyColumn], read: Vector[NestedField]) extends (Record => Record) {
  private val places: Array[Array[Int]] = columns.map(c => ReadColumns.place(c.path, read).toArray).toArray
  private val key = new Record(new Array[AnyRef](places.length))

  override def apply(row: Record): Record = {
    var i = 0
    while (i < places.length) {
      key.values(i) = ReadColumns.valueAt(row, places(i))
      i += 1
    }
    key
  }
}
