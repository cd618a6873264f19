package iceberglite.spark.read.stats

import iceberglite.scan.FileScanTask

/**
 * The number of rows of a file that are not deleted, as far as metadata determines it. Deletion vectors have a
 * cardinality; other delete files do not tell how many rows of a file they delete.
 *
 * @param total all rows of the file, including deleted ones; negative if its entry has no count
 * @param deletedByVectors the number of rows that deletion vectors delete
 * @param isExact whether no other deletes apply
 */
final private[read] case class RowCount(total: Long, deletedByVectors: Long, isExact: Boolean) {
  def isWhole: Boolean = isExact && deletedByVectors == 0

  def exactCount: Option[Long] = if (isExact && total >= 0) Some(minCount) else None

  def minCount: Long = minCountOf(total)

  /** Returns how many of `some` rows remain at least, if it is unknown which of them are deleted. */
  def minCountOf(some: Long): Long = if (isExact) math.max(0L, some - deletedByVectors) else 0L
}

private[read] object RowCount {
  def of(task: FileScanTask): RowCount =
    if (task.deletes.isEmpty) RowCount(task.file.recordCount, 0L, task.change.isEmpty)
    else {
      val (vectors, others) = task.deletes.partition(_.isVector)
      val isCounted = vectors.forall(_.file.hasRecordCount)
      RowCount(
        task.file.recordCount,
        vectors.iterator.map(_.file.recordCountOrZero).sum,
        others.isEmpty && isCounted && task.change.isEmpty
      )
    }
}
