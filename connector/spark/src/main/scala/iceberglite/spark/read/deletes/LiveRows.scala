package iceberglite.spark.read.deletes

import java.util.Arrays

import org.apache.spark.sql.vectorized.ColumnVector

import iceberglite.puffin.DeletionVector

/** Determines which rows of each batch a scan returns. */
private[read] trait RowSelection {

  /** The indexes of the selected rows in the current batch, ascending. [[select]] returns their number. */
  def rowIndexes: Array[Int]

  /**
   * For each row of the current batch, whether it is marked as deleted in the column `_deleted`. For [[NewlyDeleted]]:
   * whether it was deleted before the commit.
   */
  def isDeleted: Array[Boolean]

  /**
   * Selects rows of the batch that was read last.
   *
   * @param count number of rows of the batch
   * @return number of selected rows
   */
  def select(count: Int): Int
}

/**
 * Selects the rows of a batch that are not deleted.
 *
 * @param deleted the positions of deleted rows in the file
 * @param positions the `_pos` column, which is ascending; absent if no row is deleted by position
 * @param keys test whether equality deletes remove a row
 * @param capacity maximum number of rows in a batch
 */
final private[read] class LiveRows(
    deleted: DeletionVector,
    positions: Option[ColumnVector],
    keys: Array[KeyTest],
    capacity: Int
) extends RowSelection {
  override val rowIndexes: Array[Int] = new Array[Int](capacity)
  override val isDeleted: Array[Boolean] = new Array[Boolean](capacity)

  override def select(count: Int): Int = {
    Arrays.fill(isDeleted, 0, count, false)
    if (count > 0) positions.foreach(markPositions(_, count))
    keys.foreach(markKeys(_, count))
    var live = 0
    var row = 0
    while (row < count) {
      if (!isDeleted(row)) {
        rowIndexes(live) = row
        live += 1
      }
      row += 1
    }
    live
  }

  /** Marks the rows that are deleted by position. Positions can have gaps, because pages can be skipped. */
  private def markPositions(positions: ColumnVector, count: Int): Unit = {
    var row = 0
    deleted.foreachIn(positions.getLong(0), positions.getLong(count - 1) + 1) { position =>
      row = rowAtOrAfter(positions, position, row, count)
      if (positions.getLong(row) == position) isDeleted(row) = true
    }
  }

  /**
   * Returns the index of the first row whose index is at least `from` and whose position is at least `position`. The
   * caller ensures that such a row exists.
   */
  private def rowAtOrAfter(positions: ColumnVector, position: Long, from: Int, count: Int): Int = {
    val guess = position - positions.getLong(from) + from
    if (guess >= from && guess < count && positions.getLong(guess.toInt) == position) guess.toInt
    else {
      var (low, high) = (from, count - 1)
      while (low < high) {
        val middle = (low + high) >>> 1
        if (positions.getLong(middle) < position) low = middle + 1 else high = middle
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
 * Selects the rows of a batch that a commit's deletes removed. Rows that older deletes had removed before are not
 * selected.
 *
 * @param before selects the rows that were live before the commit
 * @param unchanged selects the rows that the commit's deletes do not remove
 */
final private[read] class NewlyDeleted(before: LiveRows, unchanged: LiveRows, capacity: Int) extends RowSelection {
  override val rowIndexes: Array[Int] = new Array[Int](capacity)
  override def isDeleted: Array[Boolean] = before.isDeleted

  override def select(count: Int): Int = {
    val live = before.select(count)
    unchanged.select(count)
    var selected = 0
    var i = 0
    while (i < live) {
      val row = before.rowIndexes(i)
      if (unchanged.isDeleted(row)) {
        rowIndexes(selected) = row
        selected += 1
      }
      i += 1
    }
    selected
  }
}
