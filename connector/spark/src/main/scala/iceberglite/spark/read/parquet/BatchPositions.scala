package iceberglite.spark.read.parquet

import scala.collection.JavaConverters._

import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.types.LongType

/**
 * The `_pos` values of a batch of consecutive rows of one data file, for reads of complete row groups. A batch never
 * spans two row groups.
 *
 * @param groups for each row group, the position of its first row and the number of its rows
 * @param capacity maximum number of rows in a batch
 */
final private[read] class BatchPositions private (groups: Iterator[(Long, Long)], capacity: Int) {
  private var next: Long = 0L
  private var remainingRows: Long = 0L

  /** The positions of the current batch. The next call of [[fill]] overwrites them. */
  val vector: OnHeapColumnVector = new OnHeapColumnVector(capacity, LongType)

  /** Sets the positions of the next batch. @param rows number of rows of the batch */
  def fill(rows: Int): Unit = {
    while (remainingRows == 0 && rows > 0) {
      val (first, count) = groups.next()
      next = first
      remainingRows = count
    }
    if (rows > remainingRows)
      throw new IllegalStateException(s"A batch has $rows rows, but only $remainingRows rows of its row group remain")
    var row = 0
    while (row < rows) {
      vector.putLong(row, next + row)
      row += 1
    }
    next += rows
    remainingRows -= rows
  }
}

private[read] object BatchPositions {

  /** Returns the positions of the rows; absent if the footer does not state the positions of row groups. */
  def of(footer: ParquetMetadata, capacity: Int): Option[BatchPositions] = {
    val groups = footer.getBlocks.asScala.toVector.map(block => (block.getRowIndexOffset, block.getRowCount))
    if (groups.exists(_._1 < 0)) None else Some(ofGroups(groups, capacity))
  }

  def ofGroups(groups: Seq[(Long, Long)], capacity: Int): BatchPositions = new BatchPositions(groups.iterator, capacity)
}
