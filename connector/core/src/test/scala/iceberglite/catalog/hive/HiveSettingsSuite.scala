package iceberglite.catalog.hive

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.InvalidArgument

/** Tests how the settings of Hadoop's configuration determine the settings of a Hive catalog. */
class HiveSettingsSuite extends AnyFunSuite {

  private def settings(values: (String, String)*): HiveSettings = {
    val conf = new Configuration(false)
    values.foreach { case (key, value) => conf.set(s"iceberg.hive.$key", value) }
    HiveSettings.of(conf)
  }

  test("the settings of the lock determine how long and how often the lock is requested, checked and renewed") {
    val all = settings(
      "lock-timeout-ms" -> "1",
      "lock-check-min-wait-ms" -> "2",
      "lock-check-max-wait-ms" -> "3",
      "lock-creation-timeout-ms" -> "4",
      "lock-creation-min-wait-ms" -> "5",
      "lock-creation-max-wait-ms" -> "6",
      "lock-heartbeat-interval-ms" -> "7"
    )
    assert(all.acquire == RetryTimes(1, 2, 3) && all.request == RetryTimes(4, 5, 6) && all.heartbeatMs == 7)
  }

  test("keep.stats determines whether the statistics of Hive are kept") {
    assert(settings("keep.stats" -> "true").keepStatistics && !settings().keepStatistics)
    assert(intercept[InvalidArgument](settings("keep.stats" -> "maybe")).getMessage.contains("iceberg.hive.keep.stats"))
  }
}
