package iceberglite.spark.read.stats

import iceberglite.scan.FileScanTask

/**
 * The number of rows of a file that are not deleted, as far as metadata determines this number. The manifest entry of a
 * deletion vector states how many rows the vector deletes. For other delete files, the number of rows that they delete
 * in a data file is unknown.
 *
 * @param total number of all rows of the file, including deleted rows; negative if the file's manifest entry has no
 *   record count
 * @param deletedByVectors the number of rows that deletion vectors delete
 * @param isExact whether the number of deleted rows is known. This is the case if the scan is not a changelog, and
 *   only deletion vectors with a known record count delete rows of the file
 */
final private[read] case class FileRowCount(total: Long, deletedByVectors: Long, isExact: Boolean) {

  /** Whether it is certain that no row is deleted. */
  def hasNoDeletedRow: Boolean = isExact && deletedByVectors == 0

  def exactCount: Option[Long] = if (isExact && total >= 0) Some(minCount) else None

  def minCount: Long = minCountOf(total)

  /** Returns the minimum number of rows that remain of any `count` rows of the file. */
  def minCountOf(count: Long): Long = if (isExact) math.max(0L, count - deletedByVectors) else 0L
}

private[read] object FileRowCount {
  def of(task: FileScanTask): FileRowCount =
    if (task.deletes.isEmpty) FileRowCount(task.file.recordCount, 0L, task.change.isEmpty)
    else {
      val (vectors, others) = task.deletes.partition(_.isVector)
      val isCounted = vectors.forall(_.file.hasRecordCount)
      FileRowCount(
        task.file.recordCount,
        vectors.iterator.map(_.file.recordCountOrZero).sum,
        others.isEmpty && isCounted && task.change.isEmpty
      )
    }
}
