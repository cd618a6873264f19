package iceberglite.spark.conf

import java.util.WeakHashMap

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.SparkSession

import iceberglite.catalog.{SettingWarnings, Spelling}

/** Looks for settings of a session that have no effect, and warns of each once. */
object SessionSettings {
  private val Prefixes = Seq("spark.sql.iceberg.", "spark.sql.iceberg-lite.")
  private val bySession = new WeakHashMap[SparkSession, SettingWarnings]

  def warnings(session: SparkSession): SettingWarnings =
    bySession.synchronized(bySession.computeIfAbsent(session, _ => new SettingWarnings))

  /** The configurations that this release acts on. */
  private[spark] lazy val known: Set[String] =
    (ReadOptions.all ++ WriteOptions.all ++ StatementOptions.own ++ DeleteCacheOptions.all).flatMap(_.sessionKey).toSet

  /**
   * Checks the configurations of a session that begin like ours or Apache Iceberg's.
   *
   * @throws iceberglite.spec.IcebergError.Unsupported for one that may not be ignored
   */
  def check(session: SparkSession): Unit = {
    lazy val log = warnings(session)
    session.conf.getAll.foreach { case (key, value) =>
      if (Prefixes.exists(key.startsWith)) warning(key, value).foreach(log.once(key, _))
    }
  }

  private[spark] def warning(key: String, value: String): Option[String] =
    if (known(key) || key.startsWith(WriteOptions.SessionSnapshotPropertyPrefix)) None
    else if (ForeignOptions.session.find(key).isDefined) ForeignOptions.session.warning(key, value)
    else Some(s"The configuration $key has no effect. There is no such setting${meant(key, known)}")

  /** For the end of a message: the setting that may have been meant. */
  private[spark] def meant(key: String, known: Iterable[String]): String =
    Spelling.closest(key, known).fold("")(near => s". Did you mean $near?")

  /**
   * Checks what the JVM and Hadoop's configuration say of Iceberg.
   *
   * @throws iceberglite.spec.IcebergError.Unsupported for one that may not be ignored
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
