package iceberglite.spark.read

import org.apache.spark.sql.vectorized.ColumnarBatch

/**
 * The batches of one part of a data file. The same vectors are filled again and again: a batch is good until the next.
 */
private[read] trait FileBatches extends AutoCloseable {

  /** The batch at hand, after [[next]] was true. */
  def batch: ColumnarBatch

  /** Goes on to the next batch that has rows. */
  def next(): Boolean

  /** Whether the values are taken from the file row by row, as no columnar reader can decode them. */
  def byRows: Boolean = false
}

private[read] object FileBatches {

  /** Of a file that need not be opened. */
  object Empty extends FileBatches {
    override def batch: ColumnarBatch = throw new NoSuchElementException("There is no batch")
    override def next(): Boolean = false
    override def close(): Unit = ()
  }
}
