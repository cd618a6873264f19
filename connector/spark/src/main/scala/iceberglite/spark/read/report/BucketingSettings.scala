package iceberglite.spark.read.report

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf

/** What Spark has to be told before it joins partition with partition. Where the user says something, that counts. */
private[report] object BucketingSettings {
  private val needed: Seq[String] =
    Seq(SQLConf.V2_BUCKETING_ENABLED.key, SQLConf.V2_BUCKETING_PUSH_PART_VALUES_ENABLED.key)

  /** Whether nobody has turned it off. */
  def mayBeOn(conf: SQLConf): Boolean =
    needed.forall(key => !conf.contains(key) || conf.getConfString(key).toBoolean)

  /** Spark asks for the settings after this, when it makes a physical plan. */
  def turnOn(session: SparkSession): Unit = {
    val conf = session.sessionState.conf
    needed.filterNot(conf.contains(_)).foreach(session.conf.set(_, "true"))
  }
}
