package iceberglite.spark.conf

import iceberglite.spec.property.Declarations

/** The options with which writes may change a table's columns. */
object SchemaOptions {
  private val declared = new Declarations[SparkOption[_]]

  val MergeSchema: SparkOption[Boolean] = declared(SparkOption
    .flag(
      "merge-schema",
      "Whether to add columns that the table lacks and widen columns to the types of the rows; all writes except " +
        "MERGE and streams also need the table property write.spark.accept-any-schema=true",
      default = false
    )
    .inSession("spark.sql.iceberg.merge-schema"))

  /** Alias of [[MergeSchema]], as in other data sources. */
  val Alias: SparkOption[Boolean] = declared(SparkOption.flag("mergeSchema", "Alias of merge-schema", default = false))

  /** All options, in the order of the documentation. */
  val all: Seq[SparkOption[_]] = declared.all

  /** Whether a write adds the columns that the table lacks, and widens column types. */
  def merges(settings: Settings): Boolean = Alias.get(settings).getOrElse(settings(MergeSchema))
}
