package iceberglite.spark.read.files

/**
 * The settings for batches.
 *
 * @param columnar whether Spark receives batches; otherwise, Spark receives rows
 * @param rows maximum number of rows in a batch
 * @param offHeap whether Spark's reader allocates vectors off-heap
 */
final private[iceberglite] case class BatchSettings(columnar: Boolean, rows: Int, offHeap: Boolean)
