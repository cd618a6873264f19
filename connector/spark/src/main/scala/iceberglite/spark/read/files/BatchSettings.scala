package iceberglite.spark.read.files

import iceberglite.data.VariantPath
import iceberglite.spark.convert.VariantForm

/**
 * The settings for batches.
 *
 * @param columnar whether Spark receives batches; otherwise, Spark receives rows
 * @param rows maximum number of rows in a batch
 * @param offHeap whether Spark's reader allocates vectors off-heap
 * @param variants the form in which variants are read
 * @param parts the parts of variants that are read, by field id; absent for columns whose variants are complete
 */
final private[iceberglite] case class BatchSettings(
    columnar: Boolean,
    rows: Int,
    offHeap: Boolean,
    variants: VariantForm = VariantForm.Json,
    parts: Map[Int, Set[VariantPath]] = Map.empty
)
