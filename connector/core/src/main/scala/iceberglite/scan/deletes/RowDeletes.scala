package iceberglite.scan.deletes

import iceberglite.data.Record
import iceberglite.puffin.DeletionVector
import iceberglite.spec.types.NestedField
import iceberglite.data.ReadColumns

/**
 * The deleted rows of a data file.
 *
 * @param positions the deleted positions from a deletion vector or from position delete files
 * @param keys the keys from equality delete files; files that compare the same columns share one element
 */
final class RowDeletes(val positions: DeletionVector, val keys: Vector[DeletedKeys]) {
  def isEmpty: Boolean = positions.isEmpty && keys.forall(_.isEmpty)

  /** Returns the columns that, together with the position, determine whether a row is deleted. */
  def columns: Vector[NestedField] = keys.filterNot(_.isEmpty).flatMap(_.columns).map(_.column)
}

object RowDeletes {
  val None: RowDeletes = new RowDeletes(DeletionVector.Empty, Vector.empty)
}

/**
 * The keys of deleted rows. A row is deleted if its values in all columns are equal to those of a key; null is equal to
 * null (spec: "Equality Delete Files").
 *
 * @param sets the keys, each in the order of the columns; a row is deleted if any of the sets contains its key
 */
final class DeletedKeys(val columns: Vector[EqualityColumn], val sets: Vector[KeySet]) {
  def isEmpty: Boolean = sets.forall(_.isEmpty)

  /**
   * Returns a predicate that is true for deleted rows. The predicate is not thread-safe.
   *
   * @param read the columns of the rows
   */
  def toPredicate(read: Vector[NestedField]): Record => Boolean = {
    val keyOf = new KeyExtractor(columns, read)
    val key = new KeyBuffer
    row => {
      key.clear()
      keyOf(row).values.foreach(key.put)
      sets.exists(_.contains(key))
    }
  }
}

/** Extracts the key of a row. Each call returns the same record instance with new values. */
final private[scan] class KeyExtractor(columns: Vector[EqualityColumn], read: Vector[NestedField])
    extends (Record => Record) {
  private val ordinalPaths: Array[Array[Int]] = columns.map(c => ReadColumns.ordinalPath(c.path, read).toArray).toArray
  private val key = new Record(new Array[AnyRef](ordinalPaths.length))

  override def apply(row: Record): Record = {
    var i = 0
    while (i < ordinalPaths.length) {
      key.values(i) = ReadColumns.valueAt(row, ordinalPaths(i))
      i += 1
    }
    key
  }
}
