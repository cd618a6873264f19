package iceberglite.spark.conf

import iceberglite.spec.property.Declarations

/** The options that apply only to streaming writes. */
object StreamWriteOptions {
  private val declared = new Declarations[SparkOption[_]]

  val MergeAppend: SparkOption[Boolean] = declared(SparkOption.flag(
    "use-merge-append-for-streaming",
    "Whether a micro-batch merges small manifests when it appends; otherwise, each micro-batch adds a manifest",
    default = false
  ))

  /** All options, in the order of the documentation. */
  val all: Seq[SparkOption[_]] = declared.all

  /** The options with which users configure Spark's streaming queries. Spark also passes them to the table. */
  val ofSpark: Seq[String] = Seq("checkpointLocation", "queryName")
}
