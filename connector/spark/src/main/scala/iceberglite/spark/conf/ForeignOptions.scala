package iceberglite.spark.conf

import iceberglite.spec.ForeignSetting.{accepted, rejected, warned}
import iceberglite.spec.{ForeignSetting, ForeignSettings}

/** The options, configurations and table properties of Apache Iceberg that this release does not act on. */
object ForeignOptions {
  private val Streaming = "Tables cannot be read as a stream in this release"
  private val Locality = "Spark is not told which hosts hold a file"
  private val Ordered = "Columns are matched by name, in any order"
  private val NewerSpark = "It is for newer releases of Spark"
  private val Shredding = "Columns of type variant cannot be written in this release"
  private val NoEncryption = "Files would be written without encryption. Use an engine that encrypts, or leave it out"

  val read: ForeignSettings = new ForeignSettings(
    "read option",
    Seq(
      rejected("scan-task-set-id", "Staged tasks cannot be read: all rows would be. Leave it out"),
      warned("locality", Locality, "false"),
      warned("stream-from-timestamp", Streaming),
      warned("streaming-*", Streaming),
      warned("async-*", Streaming)
    )
  )

  val write: ForeignSettings = new ForeignSettings(
    "write option",
    Seq(
      rejected(
        "rewritten-file-scan-task-set-id",
        "Files cannot be replaced by it: rows would be doubled. Leave it out"
      ),
      accepted("check-ordering", Ordered),
      warned("use-merge-append-for-streaming", "Tables cannot be written as a stream in this release"),
      warned("shred-variants", Shredding, "false"),
      warned("variant-inference-buffer-size", Shredding)
    )
  )

  val session: ForeignSettings = new ForeignSettings(
    "configuration",
    Seq(
      accepted("spark.sql.iceberg.check-ordering", Ordered),
      warned("spark.sql.iceberg.locality.enabled", Locality, "false"),
      warned("spark.sql.iceberg.executor-cache.locality.enabled", Locality, "false"),
      warned(
        "spark.sql.iceberg.report-column-stats",
        "Set spark.sql.cbo.enabled=false to plan without statistics of columns"
      ),
      warned("spark.sql.iceberg.async-micro-batch-planning-enabled", Streaming, "false"),
      warned("spark.sql.iceberg.view.schema-binding-mode", "Views cannot be read in this release"),
      warned("spark.sql.iceberg.identifier-fields-rely", NewerSpark, "false"),
      warned("spark.sql.iceberg.shred-variants", Shredding, "false"),
      warned("spark.sql.iceberg.variant-inference-buffer-size", Shredding),
      rejected(
        "spark.sql.iceberg.use-timestamp-without-timezone-in-new-tables",
        "New tables would have other types. Declare the columns as TIMESTAMP_NTZ, or set spark.sql.timestampType",
        "false"
      ),
      warned("spark.sql.iceberg.handle-timestamp-without-timezone", "Spark 3.5 has TIMESTAMP_NTZ", "false")
    )
  )

  /** System properties of the JVM. */
  val system: ForeignSettings = new ForeignSettings(
    "system property",
    Seq(
      warned("iceberg.worker.num-threads", "Spark's cores decide how many manifests are read at a time"),
      warned("iceberg.worker.delete-num-threads", "It belongs to Apache Iceberg's own threads"),
      warned("iceberg.scan.plan-in-worker-pool", "Manifests are read in parallel, or by a Spark job", "true"),
      warned("iceberg.io.manifest.cache.fileio-max", "Set io.manifest.cache.max-total-bytes of the catalog")
    )
  )

  /** Settings of Hadoop's configuration. */
  val hadoop: ForeignSettings = new ForeignSettings(
    "Hadoop setting",
    Seq(
      rejected(
        "iceberg.tables.hadoop.lock-impl",
        "Commits to tables by path take no lock, and writers that rely on it could overwrite them. Remove it when no other " +
          "writer needs the lock",
        "org.apache.iceberg.util.lockmanagers$inmemorylockmanager"
      ),
      warned("iceberg.tables.hadoop.*", "No lock manager is used: commits are exclusive without one"),
      warned("iceberg.hive.client-pool-size", "Set the catalog's property clients"),
      warned("iceberg.hive.metadata-refresh-max-retries", "Reads of metadata are retried by the file system"),
      warned("iceberg.hive.table-level-lock-evict-ms", "Locks within a program are dropped when nothing waits for them")
    )
  )

  private val Adaptive = "Bloom filters have the size that write.parquet.bloom-filter-ndv.column.* or " +
    "write.parquet.bloom-filter-max-bytes says"

  private def ofParquet(prefix: String): Seq[ForeignSetting] = Seq(
    warned(s"$prefix.bloom-filter-adaptive-enabled", Adaptive, "false"),
    warned(s"$prefix.row-group-size-track-uncompressed", "Row groups are sized as Parquet does", "false"),
    warned(s"$prefix.shred-variants", Shredding, "false"),
    warned(s"$prefix.variant-inference-buffer-size", Shredding)
  )

  val table: ForeignSettings = new ForeignSettings(
    "table property",
    Seq(
      rejected("encryption.*", NoEncryption),
      rejected(
        "write.location-provider.impl",
        "No class of another implementation is loaded. write.object-storage.enabled and write.data.path say where files go"
      ),
      warned("read.split.metadata-target-size", "Metadata tables are split by manifest"),
      warned("read.orc.vectorization.enabled", "ORC files are always read in batches", "true"),
      warned(
        "read.orc.vectorization.batch-size",
        "Set read.parquet.vectorization.batch-size, which counts for all formats"
      ),
      warned("identifier-fields.rely", "Spark plans without relying on identifier fields", "false"),
      warned(
        "write.spark.auto-schema-evolution.enabled",
        "Columns are added only where a write asks for it: set merge-schema, or MERGE WITH SCHEMA EVOLUTION"
      ),
      accepted("write.upsert.enabled", "It is for Flink, in Apache Iceberg too"),
      accepted(
        "compatibility.snapshot-id-inheritance.enabled",
        "Manifests are always written in a way that all readers know"
      )
    ) ++ ofParquet("write.parquet") ++ ofParquet("write.delete.parquet")
  )
}
