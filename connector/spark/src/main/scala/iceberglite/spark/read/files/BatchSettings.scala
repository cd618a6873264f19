package iceberglite.spark.read.files

import iceberglite.spark.convert.VariantForm

/**
 * The settings for batches.
 *
 * @param columnar whether Spark receives batches; otherwise, Spark receives rows
 * @param rows maximum number of rows in a batch
 * @param offHeap whether Spark's reader allocates vectors off-heap
 * @param variants the form in which variants are read
 */
final private[iceberglite] case class BatchSettings(
    columnar: Boolean,
    rows: Int,
    offHeap: Boolean,
    variants: VariantForm = VariantForm.Json
)
