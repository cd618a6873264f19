package iceberglite.catalog.hive

import scala.util.Try

import org.apache.hadoop.conf.Configuration

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.table.{Environment, RetryPolicy}

/**
 * The timeout of an operation and the pauses between its attempts, in milliseconds. The pauses increase with each
 * attempt, from `minMs` to `maxMs`.
 */
final private[hive] case class RetryTimes(timeoutMs: Long, minMs: Long, maxMs: Long) {
  def newPolicy(environment: Environment): RetryPolicy =
    new RetryPolicy(Int.MaxValue, minMs, maxMs, timeoutMs, environment)
}

/**
 * The settings of a Hive catalog, which are read from the Hadoop configuration. Keys and defaults are those of Apache
 * Iceberg.
 *
 * @param lock whether commits acquire the Metastore's lock. A table property can override this setting
 * @param engine whether Hive may read the tables. A table property can override this setting
 * @param keepStatistics whether a commit keeps Hive's parameter `COLUMN_STATS_ACCURATE`
 * @param maxParameter maximum number of characters of a table parameter that shows a part of the metadata; 0 omits
 *   these parameters except `snapshot-count`
 * @param acquire the timeout and pauses for acquiring a lock that another writer holds
 * @param request the timeout and pauses for repeating a lock request whose response was lost
 * @param heartbeatMs interval for renewing a lock, in milliseconds
 */
final private[catalog] case class HiveSettings(
    lock: Boolean,
    engine: Boolean,
    keepStatistics: Boolean,
    maxParameter: Long,
    acquire: RetryTimes,
    request: RetryTimes,
    heartbeatMs: Long
)

private[catalog] object HiveSettings {
  val LockEnabled = "iceberg.engine.hive.lock-enabled"
  private val EngineEnabled = "iceberg.engine.hive.enabled"
  private val KeepStatistics = "iceberg.hive.keep.stats"
  private val MaxParameter = "iceberg.hive.table-property-max-size"
  private val ThreeMinutesMs = 180000L

  /** Reads the settings. @throws InvalidArgument if a value is invalid */
  def of(conf: Configuration): HiveSettings = {
    def millis(name: String, default: Long): Long = number(conf, s"iceberg.hive.$name-ms", default)
    def retryTimes(timeout: String, pauses: String): RetryTimes =
      RetryTimes(millis(timeout, ThreeMinutesMs), millis(s"$pauses-min-wait", 50), millis(s"$pauses-max-wait", 5000))
    HiveSettings(
      flag(conf, LockEnabled, default = true),
      flag(conf, EngineEnabled, default = false),
      flag(conf, KeepStatistics, default = false),
      number(conf, MaxParameter, 32672),
      retryTimes("lock-timeout", "lock-check"),
      retryTimes("lock-creation-timeout", "lock-creation"),
      math.max(2, millis("lock-heartbeat-interval", 240000))
    )
  }

  private def number(conf: Configuration, key: String, default: Long): Long = read(conf, key)(default) { text =>
    val number = Try(text.toLong).toOption.filter(_ >= 0)
    number.getOrElse(throw InvalidArgument(key, text, "It must be a whole number of at least 0"))
  }

  private def flag(conf: Configuration, key: String, default: Boolean): Boolean = read(conf, key)(default) { text =>
    Try(text.toBoolean).getOrElse(throw InvalidArgument(key, text, "It must be true or false"))
  }

  private def read[A](conf: Configuration, key: String)(default: A)(parse: String => A): A =
    Option(conf.get(key)).map(_.trim).filter(_.nonEmpty).fold(default)(parse)
}
