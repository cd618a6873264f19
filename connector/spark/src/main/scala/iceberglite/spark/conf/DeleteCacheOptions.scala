package iceberglite.spark.conf

import scala.util.Try

import org.apache.spark.network.util.JavaUtils

/** The settings of what executors keep of delete files; for a session. */
object DeleteCacheOptions {
  private val Prefix = "spark.sql.iceberg."

  val Enabled: SparkOption[Boolean] = inSession(
    SparkOption.flag("executor-cache.enabled", "Keep what tasks read of delete files for other tasks", default = true)
  )

  val DeleteFilesEnabled: SparkOption[Boolean] = inSession(
    SparkOption.flag("executor-cache.delete-files.enabled", "The same; either turns it off", default = true)
  )

  val Timeout: SparkOption[Long] = inSession(
    SparkOption[Long](
      "executor-cache.timeout",
      "It must be a time such as 90s, 10m or 1h",
      "What no task has asked for in that time goes (in ms; other units as 90s, 10m)",
      10L * 60 * 1000
    )(text => Try(JavaUtils.timeStringAsMs(text)).toOption.filter(_ > 0))
  )

  val MaxEntrySize: SparkOption[Long] = inSession(
    SparkOption.bytes(
      "executor-cache.max-entry-size",
      "Memory for one delete file, in bytes; equality deletes that need more go to the local disk",
      64L << 20
    )
  )

  val MaxTotalSize: SparkOption[Long] = inSession(
    SparkOption.bytes("executor-cache.max-total-size", "Memory for all of an executor's, in bytes", 128L << 20)
  )

  /** In the order of the documentation. */
  val all: Seq[SparkOption[_]] = Seq(Enabled, DeleteFilesEnabled, Timeout, MaxEntrySize, MaxTotalSize)

  private def inSession[A](option: SparkOption[A]): SparkOption[A] = option.inSession(Prefix + option.key)
}
