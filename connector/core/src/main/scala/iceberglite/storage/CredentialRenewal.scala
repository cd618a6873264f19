package iceberglite.storage

import java.util.concurrent.locks.ReentrantLock

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.slf4j.LoggerFactory

import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.spec.Redaction

/**
 * Credentials that a catalog vended for a table.
 *
 * @param properties storage settings with the keys of a catalog's configuration, such as `s3.access-key-id`
 * @param expiresMs the time at which the credentials expire, in milliseconds since 1970; absent if they do not expire
 */
final case class VendedSettings(properties: Map[String, String], expiresMs: Option[Long]) {
  override def toString: String = s"VendedSettings(${properties.keys.mkString(", ")}, $expiresMs)"
}

/** Requests new credentials for a table from its catalog. Implementations have a constructor without parameters. */
trait CredentialSource {

  /**
   * Requests credentials.
   *
   * @param request the text that the catalog stored with the old credentials. It describes the table and the catalog
   */
  def renew(request: String): VendedSettings
}

/**
 * Renews vended credentials while a query runs, on the driver and on executors. Each file is opened with
 * credentials that are valid when it is opened. Credentials are renewed before they expire, once in each process. Other
 * threads use the old credentials until these expire, and then wait. Files that are open on S3 keep their credentials;
 * those on Google Cloud Storage and Azure Data Lake Storage get the new ones.
 */
object CredentialRenewal {
  private val log = LoggerFactory.getLogger("iceberglite.storage.CredentialRenewal")
  private val ExpiresMs = "iceberglite.credentials.expires-at-ms"
  private val Source = "iceberglite.credentials.source"

  /** The key ends with `secret`, because Hadoop hides the values of such keys. */
  private val Request = "iceberglite.credentials.request.secret"
  private val Table = "iceberglite.credentials.table"

  /** The key of the holder of renewed credentials, by which file systems with these credentials find the holder. */
  private val HolderKey = "iceberglite.credentials.holder"

  /** Credentials are renewed this long before they expire, or after half of their lifetime if this is later. */
  private val MaxMarginMs = 300000L

  /** Waiting time after a failed renewal of credentials that are still valid. */
  private val RetryMs = 10000L
  private val Limits = LruCache.Limits.ofCount(100)
  private val holders = new LruCache[String, Holder]

  /**
   * Returns settings of a catalog that enable the renewal of vended credentials. The settings are added to those of the
   * credentials.
   *
   * @param table the name of the table, for messages
   * @param source the class that requests new credentials
   * @param request the text for [[CredentialSource.renew]]
   */
  def settings(
      table: String,
      source: Class[_ <: CredentialSource],
      request: String,
      expiresMs: Long
  ): Map[String, String] = Map(
    Table -> table,
    Source -> source.getName,
    Request -> request,
    ExpiresMs -> expiresMs.toString
  ).map { case (key, value) => s"${StorageSettings.HadoopPrefix}$key" -> value }

  /**
   * Returns the configuration with valid credentials.
   *
   * @param nowMs the current time in milliseconds since 1970, which is read again after a wait
   * @throws StorageFailed if the credentials have expired and cannot be renewed
   */
  private[storage] def current(conf: Configuration, nowMs: => Long = System.currentTimeMillis): Configuration =
    Option(conf.get(ExpiresMs)).flatMap(text => Try(text.toLong).toOption).fold(conf) { expiresMs =>
      val key = conf.get(HolderKey, conf.get(StorageSettings.Fingerprint, ""))
      holders.getOrAdd(key, 1L, Limits)(new Holder(key, conf, expiresMs, nowMs)).at(nowMs)
    }

  /** The newest credentials of one table in this process. */
  final private class Holder(key: String, original: Configuration, firstExpiresMs: Long, firstMs: Long) {
    private val table = original.get(Table, "")
    private val lock = new ReentrantLock
    @volatile private var valid = Valid(original, Some(firstExpiresMs), renewalTime(firstMs, firstExpiresMs))

    def at(nowMs: => Long): Configuration = {
      val startMs = nowMs
      if (startMs >= valid.renewMs && acquire(startMs))
        try {
          val lockedMs = nowMs
          if (lockedMs >= valid.renewMs) renew(lockedMs)
        } finally lock.unlock()
      valid.conf
    }

    /** Acquires the lock, and waits for it only if the credentials have expired. @return whether it was acquired */
    private def acquire(nowMs: Long): Boolean =
      if (isExpired(nowMs)) {
        lock.lock()
        true
      } else lock.tryLock()

    private def isExpired(nowMs: Long): Boolean = valid.expiresMs.exists(_ <= nowMs)

    private def renew(nowMs: Long): Unit =
      try {
        val renewed = newSource().renew(original.getRaw(Request))
        if (renewed.expiresMs.exists(_ <= nowMs)) throw StorageFailed.at(
          "renew the credentials of",
          table,
          "The new credentials have already expired. Check the clock of this machine"
        )
        val conf = StorageSettings.configuration(original, renewed.properties)
        conf.set(HolderKey, key)
        valid = Valid(
          conf,
          renewed.expiresMs,
          renewed.expiresMs.fold(Long.MaxValue)(renewalTime(nowMs, _))
        )
      } catch {
        case NonFatal(e) if isExpired(nowMs) =>
          throw StorageFailed.at(
            "access the files of",
            table,
            s"The credentials that the catalog vended have expired, and it did not renew them: ${e.getMessage}",
            Some(e)
          )
        case NonFatal(e) =>
          log.warn(Redaction(s"Could not renew the credentials of $table, which are still valid: ${e.getMessage}"))
          valid = valid.copy(renewMs = nowMs + RetryMs)
      }

    private def renewalTime(nowMs: Long, expiresMs: Long): Long =
      expiresMs - math.min(MaxMarginMs, math.max(0L, expiresMs - nowMs) / 2)

    private def newSource(): CredentialSource =
      Class.forName(original.get(Source), true, getClass.getClassLoader).getDeclaredConstructor().newInstance() match {
        case source: CredentialSource => source
        case other => throw new IllegalStateException(s"${other.getClass.getName} does not renew credentials")
      }
  }

  final private case class Valid(conf: Configuration, expiresMs: Option[Long], renewMs: Long)
}
