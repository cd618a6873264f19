package iceberglite.spark.read.files

import org.apache.spark.sql.vectorized.ColumnarBatch

/**
 * The batches of one split of a data file. A batch is valid until the next call of [[next]], because its vectors are
 * reused.
 */
private[iceberglite] trait FileBatches extends AutoCloseable {

  /** The current batch, after [[next]] returned true. */
  def batch: ColumnarBatch

  /** Advances to the next batch that has rows. @return false after the last batch */
  def next(): Boolean

  /** Whether the values are decoded row by row. This is the case if no columnar reader supports the file. */
  def decodesRowByRow: Boolean = false
}

private[iceberglite] object FileBatches {

  /** Contains no batch. Used for a split of a changelog without rows to return, so that its file need not be opened. */
  object Empty extends FileBatches {
    override def batch: ColumnarBatch = throw new NoSuchElementException("There is no batch")
    override def next(): Boolean = false
    override def close(): Unit = ()
  }
}
