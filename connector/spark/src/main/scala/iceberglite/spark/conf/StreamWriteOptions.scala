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

  val SearchedBytes: SparkOption[Long] = declared(SparkOption[Long](
    "upsert-search-bytes",
    "It must be a number of bytes, 0 or more",
    "Maximum total size of the data files that may contain the keys of a micro-batch, and of their earlier " +
      "deletes, up to which a streaming query with key columns finds the replaced rows and deletes them by position; " +
      "each data file counts as 1 MiB or more. If the files are larger, the keys are written as equality deletes. 0: " +
      "always equality deletes",
    64L << 20
  )(SparkOption.long(_).filter(_ >= 0)))

  /** All options, in the order of the documentation. */
  val all: Seq[SparkOption[_]] = declared.all

  /** The options with which users configure Spark's streaming queries. Spark also passes them to the table. */
  val ofSpark: Seq[String] = Seq("checkpointLocation", "queryName")
}
