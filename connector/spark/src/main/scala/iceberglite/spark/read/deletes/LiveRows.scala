package iceberglite.spark.read.deletes

import java.util.Arrays

import org.apache.spark.sql.vectorized.ColumnVector

import iceberglite.puffin.DeletionVector

/** Selects rows of batches. */
private[read] trait RowChoice {

  /** The selected rows of the current batch, ascending; [[find]] returns their number. */
  def rows: Array[Int]

  /** For each row of the current batch, whether it is deleted. */
  def isDeleted: Array[Boolean]

  /** Processes a batch. @return how many of its rows are selected */
  def find(count: Int): Int
}

/**
 * Finds the rows of a batch that are not deleted.
 *
 * @param deleted the positions of deleted rows in the file
 * @param places the `_pos` column, which is ascending; absent if no row is deleted by position
 * @param capacity maximum number of rows in a batch
 */
final private[read] class LiveRows(
    deleted: DeletionVector,
    places: Option[ColumnVector],
    keys: Array[KeyTest],
    capacity: Int
) extends RowChoice {
  override val rows: Array[Int] = new Array[Int](capacity)
  override val isDeleted: Array[Boolean] = new Array[Boolean](capacity)

  override def find(count: Int): Int = {
    Arrays.fill(isDeleted, 0, count, false)
    if (count > 0) places.foreach(markPlaces(_, count))
    keys.foreach(markKeys(_, count))
    var live = 0
    var row = 0
    while (row < count) {
      if (!isDeleted(row)) {
        rows(live) = row
        live += 1
      }
      row += 1
    }
    live
  }

  /** Marks the rows that are deleted by position. Positions can have gaps, because pages can be skipped. */
  private def markPlaces(places: ColumnVector, count: Int): Unit = {
    var row = 0
    deleted.foreachIn(places.getLong(0), places.getLong(count - 1) + 1) { place =>
      row = rowAtOrAfter(places, place, row, count)
      if (places.getLong(row) == place) isDeleted(row) = true
    }
  }

  /** Returns the index of the first row, at `from` or later, whose position is at least `place`. Such a row exists. */
  private def rowAtOrAfter(places: ColumnVector, place: Long, from: Int, count: Int): Int = {
    val guess = place - places.getLong(from) + from
    if (guess >= from && guess < count && places.getLong(guess.toInt) == place) guess.toInt
    else {
      var (low, high) = (from, count - 1)
      while (low < high) {
        val middle = (low + high) >>> 1
        if (places.getLong(middle) < place) low = middle + 1 else high = middle
      }
      low
    }
  }

  private def markKeys(test: KeyTest, count: Int): Unit = {
    var row = 0
    while (row < count) {
      if (!isDeleted(row) && test.isDeleted(row)) isDeleted(row) = true
      row += 1
    }
  }
}

/**
 * Finds the rows of a batch that were live and that additional deletes remove.
 *
 * @param before the rows that were live
 * @param more the rows that remain after the additional deletes
 */
final private[read] class NewlyDeleted(before: LiveRows, more: LiveRows, capacity: Int) extends RowChoice {
  override val rows: Array[Int] = new Array[Int](capacity)
  override def isDeleted: Array[Boolean] = before.isDeleted

  override def find(count: Int): Int = {
    val live = before.find(count)
    more.find(count)
    var found = 0
    var i = 0
    while (i < live) {
      val row = before.rows(i)
      if (more.isDeleted(row)) {
        rows(found) = row
        found += 1
      }
      i += 1
    }
    found
  }
}
