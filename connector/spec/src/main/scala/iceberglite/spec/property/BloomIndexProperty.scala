package iceberglite.spec.property

import iceberglite.spec.property.TableProperty.{optional, size}

/** The table properties of the Bloom index. Other Iceberg implementations ignore these properties. */
object BloomIndexProperty {
  val Columns: TableProperty[Option[Vector[String]]] = optional(
    "iceberg-lite.bloom-index.columns",
    "It must be a list of names of columns, such as id,name",
    "Top-level columns for which compute_table_stats writes a Bloom filter of each data file; ALTER TABLE ... SET " +
      "BLOOM INDEX sets it",
    text => Some(text.split(",", -1).toVector.map(_.trim)).filter(names => names.forall(_.nonEmpty))
  )
  val MaxFilterBytes: TableProperty[Long] = size(
    "iceberg-lite.bloom-index.max-filter-bytes",
    1L << 20,
    "Maximum size of the Bloom filter of one data file and column; with more distinct values, the filter excludes " +
      "fewer files or none"
  )
  val MaxReadBytes: TableProperty[Long] = size(
    "iceberg-lite.bloom-index.max-read-bytes",
    128L << 20,
    "Maximum total size of the Bloom filters, and of the directories that list their positions in a statistics file, " +
      "that the planning of a query reads; if they are larger, only the smallest filters are used"
  )

  /** All properties, in the order of the documentation. */
  private[iceberglite] def all: Seq[TableProperty[_]] = Seq(Columns, MaxFilterBytes, MaxReadBytes)
}
