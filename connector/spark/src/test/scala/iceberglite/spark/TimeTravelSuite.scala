package iceberglite.spark

import scala.collection.JavaConverters._

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.conf.TimeTravel
import iceberglite.spark.conf.TimeTravel._
import iceberglite.spec.IcebergError.InvalidArgument

/** Checks how options and table names select a snapshot, branch, tag or time. */
class TimeTravelSuite extends AnyFunSuite {

  private def timeTravel(options: (String, String)*): TimeTravel =
    TimeTravel.ofOptions(new CaseInsensitiveStringMap(options.toMap.asJava))

  test("the last part of a table name can select a snapshot, branch or tag; its keywords are case-insensitive") {
    assert(ofSelector("snapshot_id_42").contains(AtSnapshot(42)))
    assert(ofSelector("AT_TIMESTAMP_1000").contains(AtTimestamp(1000)))
    assert(ofSelector("Branch_My_Work").contains(OnBranch("My_Work")))
    assert(ofSelector("tag_v1.0").contains(OnTag("v1.0")))
    Seq("snapshot_id_", "snapshot_id_x", "at_timestamp_1s", "branch_", "tags", "t").foreach { part =>
      assert(ofSelector(part).isEmpty, part)
    }
  }

  test("a snapshot, branch, tag or time is written as the last part of a table name and parsed back unchanged") {
    Seq(AtSnapshot(-3), AtTimestamp(1000), OnBranch("b_b"), OnTag("t")).foreach { travel =>
      assert(ofSelector(travel.selector).contains(travel))
    }
  }

  test("timestampAsOf without a time zone is in the session's time zone, and a number is seconds since 1970") {
    val conf = new SQLConf
    conf.setConf(SQLConf.SESSION_LOCAL_TIMEZONE, "America/New_York")
    SQLConf.withExistingConf(conf) {
      assert(timeTravel("timestampAsOf" -> "1970-01-01 00:00:00") == AtTimestamp(5 * 3600 * 1000L))
      assert(timeTravel("timestampAsOf" -> "1970-01-01T00:00:00.0019Z") == AtTimestamp(1))
      assert(timeTravel("timestampasof" -> "12") == AtTimestamp(12000))
      assert(timeTravel("timestampAsOf" -> "1969-12-31 18:59:59.9995") == AtTimestamp(-1))
    }
  }

  test("without an option the current snapshot is selected, and two options are rejected") {
    assert(timeTravel("path" -> "x") == Latest)
    val e = intercept[InvalidArgument](timeTravel("snapshot-id" -> "1", "as-of-timestamp" -> "2"))
    assert(e.getMessage.contains("snapshot-id=1, as-of-timestamp=2"))
  }
}
