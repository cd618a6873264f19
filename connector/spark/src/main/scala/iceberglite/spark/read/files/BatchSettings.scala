package iceberglite.spark.read.files

/**
 * The settings for batches.
 *
 * @param columnar whether Spark gets batches; rows otherwise
 * @param rows maximum number of rows in a batch
 */
final private[iceberglite] case class BatchSettings(columnar: Boolean, rows: Int, offHeap: Boolean)
