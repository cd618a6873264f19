package iceberglite.spark.conf

import java.util.WeakHashMap

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.SparkSession

import iceberglite.catalog.SettingWarnings
import iceberglite.spec.Spelling

/**
 * Finds settings of a session that have no effect. Settings that must not be ignored are rejected; for each other
 * setting, a warning is logged once.
 */
object SessionSettings {
  private val Prefixes = Seq("spark.sql.iceberg.", "spark.sql.iceberg-lite.")
  private val bySession = new WeakHashMap[SparkSession, SettingWarnings]

  def warnings(session: SparkSession): SettingWarnings =
    bySession.synchronized(bySession.computeIfAbsent(session, _ => new SettingWarnings))

  /** The keys of the configurations that the connector supports. */
  private[iceberglite] lazy val knownKeys: Set[String] =
    (ReadOptions.all ++ WriteOptions.all ++ StatementOptions.statementOnly ++ DeleteCacheOptions.all).flatMap(
      _.sessionKey
    ).toSet ++ Seq(WriteAuditPublish.IdKey, WriteAuditPublish.BranchKey)

  /**
   * Checks the configurations of a session whose keys have the prefixes of iceberg-lite or Apache Iceberg.
   *
   * @throws iceberglite.spec.IcebergError.Unsupported if an unsupported setting that must not be ignored is set
   */
  def check(session: SparkSession): Unit = {
    lazy val log = warnings(session)
    session.conf.getAll.foreach { case (key, value) =>
      if (Prefixes.exists(key.startsWith)) warning(key, value).foreach(log.once(key, _))
    }
  }

  private[iceberglite] def warning(key: String, value: String): Option[String] =
    if (knownKeys(key) || key.startsWith(WriteOptions.SessionSnapshotPropertyPrefix)) None
    else if (ForeignOptions.session.find(key).isDefined) ForeignOptions.session.warning(key, value)
    else Some(s"The configuration $key has no effect. There is no such setting${suggestion(key, knownKeys)}")

  /**
   * Returns a text for the end of a message that suggests a known setting with a similar name; empty if there is none.
   */
  private[iceberglite] def suggestion(key: String, knownKeys: Iterable[String]): String =
    Spelling.closest(key, knownKeys).fold("")(near => s". Did you mean $near?")

  /**
   * Checks the Iceberg settings among the system properties of the JVM and in Hadoop's configuration.
   *
   * @throws iceberglite.spec.IcebergError.Unsupported if an unsupported setting that must not be ignored is set
   */
  def checkEnvironment(session: SparkSession, hadoop: Configuration): Unit = {
    val log = warnings(session)
    for {
      setting <- ForeignOptions.system.all
      value <- Option(System.getProperty(setting.key))
      message <- ForeignOptions.system.warning(setting.key, value)
    } log.once(setting.key, message)
    for {
      entry <- hadoop.iterator.asScala if entry.getKey.startsWith("iceberg.")
      message <- ForeignOptions.hadoop.warning(entry.getKey, entry.getValue)
    } log.once(entry.getKey, message)
  }
}
