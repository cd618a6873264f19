package iceberglite.spark.rules

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf

/** The Spark settings for storage-partitioned joins. Settings of the user take precedence. */
private[rules] object BucketingSettings {
  private val needed: Seq[String] =
    Seq(SQLConf.V2_BUCKETING_ENABLED.key, SQLConf.V2_BUCKETING_PUSH_PART_VALUES_ENABLED.key)

  /** Whether it is not turned off. */
  def mayBeOn(conf: SQLConf): Boolean =
    needed.forall(key => !conf.contains(key) || conf.getConfString(key).toBoolean)

  /** Turns it on; Spark reads the settings later, when it creates a physical plan. */
  def turnOn(session: SparkSession): Unit = {
    val conf = session.sessionState.conf
    needed.filterNot(conf.contains(_)).foreach(session.conf.set(_, "true"))
  }
}
