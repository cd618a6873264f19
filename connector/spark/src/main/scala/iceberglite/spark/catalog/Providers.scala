package iceberglite.spark.catalog

/** The names in `USING` and `format(...)` for tables of this connector. */
private[iceberglite] object Providers {

  /** The name that Apache Iceberg uses. */
  val Iceberg = "iceberg"

  /** The name that `format(...)` accepts even where Apache Iceberg is on the class path. */
  val IcebergLite = "iceberg-lite"

  /** Whether tables with this provider are tables of this connector, also in Spark's session catalog. */
  def isOwn(provider: String): Boolean = provider == Iceberg || provider == IcebergLite
}
