package iceberglite.spark.session

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf

/** Enables Spark's settings for storage-partitioned joins. Settings of the user take precedence. */
private[iceberglite] object BucketingSettings {
  private val requiredKeys: Seq[String] =
    Seq(SQLConf.V2_BUCKETING_ENABLED.key, SQLConf.V2_BUCKETING_PUSH_PART_VALUES_ENABLED.key)

  /** Whether scans may be grouped for joins. */
  def areEnabled(conf: SQLConf): Boolean =
    requiredKeys.forall(key => conf.contains(key) && conf.getConfString(key).toBoolean)

  /**
   * Turns the settings on for a session with the connector's SQL extensions. Their optimizer rule then decides which
   * scans are grouped. This method is called when a catalog is loaded, because a rule must not change settings.
   */
  def enable(session: SparkSession): Unit = {
    val conf = session.sessionState.conf
    if (hasExtensions(session)) requiredKeys.filterNot(conf.contains(_)).foreach(session.conf.set(_, "true"))
  }

  /** Whether a session has the connector's SQL extensions. */
  def hasExtensions(session: SparkSession): Boolean =
    session.sessionState.analyzer.extendedResolutionRules.exists(_.getClass.getName.startsWith("iceberglite."))
}
