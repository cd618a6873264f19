package iceberglite.spark.conf

import iceberglite.spec.property.{ForeignSetting, ForeignSettings}
import iceberglite.spec.property.ForeignSetting.{accepted, rejected, warned}

/**
 * The options, configurations, table properties, system properties and Hadoop settings of Apache Iceberg that the
 * connector does not support.
 *
 *   - A `rejected` setting is an error.
 *   - A `warned` setting is ignored, with a warning in the log.
 *   - An `accepted` setting is ignored silently, because it would not change what the connector does.
 *
 * The argument `harmless` is a value for which nothing is reported, because it requests what the connector does anyway.
 * Upper and lower case are not distinguished.
 */
object ForeignOptions {
  private val Polling = "Each trigger polls the table, and the next micro-batch is always planned in the background"
  private val Locality = "File locations are not reported to Spark"
  private val Ordered = "Columns are matched by name, in any order"
  private val NewerSpark = "The setting applies only to later releases of Spark"
  private val NoVariants = "Delete files contain no variants"
  private val Shredding = "Set the table property write.parquet.shred-variants"

  val read: ForeignSettings = new ForeignSettings(
    "read option",
    Seq(
      rejected(
        "scan-task-set-id",
        "Staged scan tasks are not supported: if the setting were ignored, all rows would be read. Remove this setting"
      ),
      warned("locality", Locality, harmless = "false"),
      accepted("async-micro-batch-planning-enabled", Polling),
      accepted("streaming-snapshot-polling-interval-ms", Polling),
      accepted("async-queue-preload-file-limit", Polling),
      accepted("async-queue-preload-row-limit", Polling)
    )
  )

  val write: ForeignSettings = new ForeignSettings(
    "write option",
    Seq(
      rejected(
        "rewritten-file-scan-task-set-id",
        "Rewriting staged files is not supported: if the setting were ignored, rows would be duplicated. Remove this " +
          "setting"
      ),
      accepted("check-ordering", Ordered),
      warned("shred-variants", Shredding, harmless = "false"),
      warned("variant-inference-buffer-size", Shredding)
    )
  )

  val session: ForeignSettings = new ForeignSettings(
    "configuration",
    Seq(
      accepted("spark.sql.iceberg.check-ordering", Ordered),
      warned("spark.sql.iceberg.locality.enabled", Locality, harmless = "false"),
      warned("spark.sql.iceberg.executor-cache.locality.enabled", Locality, harmless = "false"),
      warned(
        "spark.sql.iceberg.report-column-stats",
        "Set spark.sql.cbo.enabled=false to plan without column statistics"
      ),
      accepted("spark.sql.iceberg.async-micro-batch-planning-enabled", Polling),
      warned(
        "spark.sql.iceberg.view.schema-binding-mode",
        "Only the mode binding is supported: the columns of a view's query are cast to the types of the view, and " +
          "casts that could lose values are rejected",
        harmless = "binding"
      ),
      warned("spark.sql.iceberg.identifier-fields-rely", NewerSpark, harmless = "false"),
      warned("spark.sql.iceberg.shred-variants", Shredding, harmless = "false"),
      warned("spark.sql.iceberg.variant-inference-buffer-size", Shredding),
      rejected(
        "spark.sql.iceberg.use-timestamp-without-timezone-in-new-tables",
        "If the setting were ignored, new tables would have TIMESTAMP columns with time zone. Declare the columns as " +
          "TIMESTAMP_NTZ, or set spark.sql.timestampType",
        harmless = "false"
      ),
      warned(
        "spark.sql.iceberg.handle-timestamp-without-timezone",
        "Spark 3.5 supports TIMESTAMP_NTZ",
        harmless = "false"
      )
    )
  )

  /** Apache Iceberg's system properties of the JVM. */
  val system: ForeignSettings = new ForeignSettings(
    "system property",
    Seq(
      warned(
        "iceberg.worker.num-threads",
        "The number of cores of Spark determines how many manifests are read in parallel"
      ),
      warned(
        "iceberg.worker.delete-num-threads",
        "It applies to a thread pool of Apache Iceberg that this connector does not have"
      ),
      warned(
        "iceberg.scan.plan-in-worker-pool",
        "Manifests are read in parallel, or by a Spark job",
        harmless = "true"
      ),
      warned("iceberg.io.manifest.cache.fileio-max", "Set the catalog property `io.manifest.cache.max-total-bytes`")
    )
  )

  /** Apache Iceberg's settings in Hadoop's configuration. */
  val hadoop: ForeignSettings = new ForeignSettings(
    "Hadoop setting",
    Seq(
      rejected(
        "iceberg.tables.hadoop.lock-impl",
        "Commits to tables by path take no lock, because they create the metadata file exclusively, but writers that " +
          "rely on the lock could overwrite them. Remove this setting if no other writer needs the lock",
        harmless = "org.apache.iceberg.util.LockManagers$InMemoryLockManager"
      ),
      warned(
        "iceberg.tables.hadoop.*",
        "No lock manager is used, because commits are exclusive without a lock manager"
      ),
      warned("iceberg.hive.client-pool-size", "Set the catalog property `clients`"),
      warned("iceberg.hive.metadata-refresh-max-retries", "Reads of metadata are retried by the file system"),
      warned("iceberg.hive.table-level-lock-evict-ms", "Locks within a process are removed when nothing waits for them")
    )
  )

  private val Adaptive = "The size of Bloom filters is set with write.parquet.bloom-filter-ndv.column.* or " +
    "write.parquet.bloom-filter-max-bytes"

  private def ofParquet(prefix: String): Seq[ForeignSetting] = Seq(
    warned(s"$prefix.bloom-filter-adaptive-enabled", Adaptive, harmless = "false"),
    warned(
      s"$prefix.row-group-size-track-uncompressed",
      "Parquet determines the sizes of row groups",
      harmless = "false"
    )
  )

  val table: ForeignSettings = new ForeignSettings(
    "table property",
    Seq(
      rejected(
        "write.location-provider.impl",
        "Location providers of other classes are not supported. Set write.object-storage.enabled or write.data.path " +
          "instead"
      ),
      warned("read.orc.vectorization.enabled", "ORC files are always read in batches", harmless = "true"),
      warned(
        "read.orc.vectorization.batch-size",
        "Set read.parquet.vectorization.batch-size, which applies to all formats"
      ),
      warned("identifier-fields.rely", "Spark plans without relying on identifier fields", harmless = "false"),
      warned(
        "write.spark.auto-schema-evolution.enabled",
        "Columns are added only if a write requests it: set merge-schema, or use MERGE WITH SCHEMA EVOLUTION"
      ),
      accepted("write.upsert.enabled", "In Apache Iceberg, too, only Flink uses this property"),
      accepted(
        "compatibility.snapshot-id-inheritance.enabled",
        "Manifests are always written in a form that all readers support"
      )
    ) ++ ofParquet("write.parquet") ++ ofParquet("write.delete.parquet") ++ Seq(
      warned("write.delete.parquet.shred-variants", NoVariants, harmless = "false"),
      warned("write.delete.parquet.variant-inference-buffer-size", NoVariants)
    )
  )
}
