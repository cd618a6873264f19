package iceberglite.spark.conf

import iceberglite.spec.property.Declarations

import scala.util.Try

import org.apache.spark.network.util.JavaUtils

/** The settings of the cache of delete files on executors. They are read from the session's configuration. */
object DeleteCacheOptions {
  private val declared = new Declarations[SparkOption[_]]

  private val Prefix = "spark.sql.iceberg."

  val Enabled: SparkOption[Boolean] = declared(inSession(
    SparkOption.flag(
      "executor-cache.enabled",
      "Whether executors cache the delete files that a task reads, so that other tasks can use them",
      default = true
    )
  ))

  val DeleteFilesEnabled: SparkOption[Boolean] = declared(inSession(
    SparkOption.flag(
      "executor-cache.delete-files.enabled",
      "Whether executors cache delete files; the cache is off if this setting or executor-cache.enabled is false",
      default = true
    )
  ))

  val Timeout: SparkOption[Long] = declared(inSession(
    SparkOption[Long](
      "executor-cache.timeout",
      "It must be a time such as 90s, 10m or 1h",
      "Time after which unused entries are removed, in ms or with a unit such as 90s or 10m",
      10L * 60 * 1000
    )(text => Try(JavaUtils.timeStringAsMs(text)).toOption.filter(_ > 0))
  ))

  val MaxEntrySize: SparkOption[Long] = declared(inSession(
    SparkOption.bytes(
      "executor-cache.max-entry-size",
      "Maximum memory for one cached delete file, in bytes; larger equality deletes are spilled to the local disk, " +
        "larger position deletes are not cached",
      64L << 20
    )
  ))

  val MaxTotalSize: SparkOption[Long] = declared(inSession(
    SparkOption.bytes(
      "executor-cache.max-total-size",
      "Maximum memory for all delete files in the cache of an executor, in bytes",
      128L << 20
    )
  ))

  /** All options, in the order of the documentation. */
  val all: Seq[SparkOption[_]] = declared.all

  private def inSession[A](option: SparkOption[A]): SparkOption[A] = option.inSession(Prefix + option.key)
}
