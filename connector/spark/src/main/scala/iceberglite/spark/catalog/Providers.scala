package iceberglite.spark.catalog

/** The names in `USING` and `format(...)` for tables of this connector. */
private[iceberglite] object Providers {

  /** The name that Apache Iceberg uses. */
  val Iceberg = "iceberg"

  /** The name that `format(...)` accepts even where Apache Iceberg is on the class path. */
  val IcebergLite = "iceberg-lite"
}
