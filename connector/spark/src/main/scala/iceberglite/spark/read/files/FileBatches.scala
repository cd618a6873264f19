package iceberglite.spark.read.files

import org.apache.spark.sql.vectorized.ColumnarBatch

/** The batches of one part of a data file. A batch is valid until the next one, because vectors are reused. */
private[iceberglite] trait FileBatches extends AutoCloseable {

  /** The current batch, after [[next]] returned true. */
  def batch: ColumnarBatch

  /** Advances to the next batch with rows. */
  def next(): Boolean

  /** Whether the values are decoded row by row, because no columnar reader supports the file. */
  def byRows: Boolean = false
}

private[iceberglite] object FileBatches {

  /** The batches of a file that need not be opened. */
  object Empty extends FileBatches {
    override def batch: ColumnarBatch = throw new NoSuchElementException("There is no batch")
    override def next(): Boolean = false
    override def close(): Unit = ()
  }
}
