package iceberglite.spark.read.facts

import iceberglite.scan.FileScanTask

/**
 * How many rows of a file no delete takes away, as far as metadata tells. Vectors count what they hold; other deletes
 * do not say how many rows of which file they mean.
 *
 * @param total all rows of the file, deleted ones too; negative where its entry does not count them
 * @param inVectors how many of them deletion vectors hold
 * @param isExact whether nothing else takes rows away
 */
final private[read] case class RowCount(total: Long, inVectors: Long, isExact: Boolean) {
  def isWhole: Boolean = isExact && inVectors == 0

  def exactly: Option[Long] = if (isExact && total >= 0) Some(atLeast) else None

  def atLeast: Long = atLeastOf(total)

  /** Of some of the rows, of which nobody knows whether they are among the deleted ones. */
  def atLeastOf(some: Long): Long = if (isExact) math.max(0L, some - inVectors) else 0L
}

private[read] object RowCount {
  def of(task: FileScanTask): RowCount =
    if (task.deletes.isEmpty) RowCount(task.file.recordCount, 0L, task.change.isEmpty)
    else {
      val (vectors, others) = task.deletes.partition(_.isVector)
      val isCounted = vectors.forall(_.file.hasRecordCount)
      RowCount(
        task.file.recordCount,
        vectors.iterator.map(_.file.knownRecords).sum,
        others.isEmpty && isCounted && task.change.isEmpty
      )
    }
}
