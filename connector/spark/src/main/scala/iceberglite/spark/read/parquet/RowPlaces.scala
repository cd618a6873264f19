package iceberglite.spark.read.parquet

import scala.collection.JavaConverters._

import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.types.LongType

/**
 * The places of rows in their file, where all rows of some row groups are read. No batch has rows of two row groups.
 *
 * @param groups the place of the first row of each group, and how many there are
 * @param capacity the most rows of a batch
 */
final private[read] class RowPlaces private (groups: Iterator[(Long, Long)], capacity: Int) {
  private var next: Long = 0L
  private var left: Long = 0L

  /** Good until the next [[fill]]. */
  val vector: OnHeapColumnVector = new OnHeapColumnVector(capacity, LongType)

  /** Sets the places of the next rows. */
  def fill(rows: Int): Unit = {
    while (left == 0 && rows > 0) {
      val (first, count) = groups.next()
      next = first
      left = count
    }
    if (rows > left) throw new IllegalStateException(s"A batch of $rows rows, where a row group has only $left more")
    var row = 0
    while (row < rows) {
      vector.putLong(row, next + row)
      row += 1
    }
    next += rows
    left -= rows
  }
}

private[read] object RowPlaces {

  /** @return absent where the footer does not tell which rows a group has */
  def of(footer: ParquetMetadata, capacity: Int): Option[RowPlaces] = {
    val groups = footer.getBlocks.asScala.map(block => (block.getRowIndexOffset, block.getRowCount))
    if (groups.exists(_._1 < 0)) None else Some(ofGroups(groups, capacity))
  }

  def ofGroups(groups: Seq[(Long, Long)], capacity: Int): RowPlaces = new RowPlaces(groups.iterator, capacity)
}
