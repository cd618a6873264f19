package iceberglite.spark

import org.apache.spark.sql.catalyst.analysis.NoSuchTableException
import org.apache.spark.sql.catalyst.plans.logical.CommandResult
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.conf.WriteAuditPublish
import iceberglite.spark.error.StatementError
import iceberglite.spec.IcebergError.{ConcurrentChange, NotFound}

/**
 * Checks branches and procedures through DataFrames, with cached results and with concurrent writers, which the SQL
 * scenarios do not cover.
 */
class BranchesSuite extends AnyFunSuite with SharedSession {

  private def table(rows: String*): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT, p STRING) USING iceberg PARTITIONED BY (p)")
    rows.foreach(row => sql(s"INSERT INTO $t VALUES $row"))
    t
  }

  private def ids(frame: DataFrame): Seq[Int] = frame.select("id").collect().map(_.getInt(0)).toSeq.sorted

  private def row(id: Int, p: String): DataFrame =
    spark.range(1).select(lit(id).as("id"), lit(p).as("p"))

  private def files(t: String): Seq[String] = rows(s"SELECT file_path FROM $t.all_data_files").map(_.getString(0))

  private def ident(t: String): String = t.stripPrefix("lite.")

  test("a DataFrame is appended to, or overwrites, a branch that the table name or an option selects", Slow) {
    val t = table("(1, 'a'), (2, 'b')")
    sql(s"ALTER TABLE $t CREATE BRANCH work")
    row(3, "c").writeTo(s"$t.branch_work").append()
    row(4, "d").writeTo(t).option("branch", "work").append()
    row(5, "e").write.format("iceberg-lite").option("branch", "work").mode("append").save(t)
    row(6, "a").writeTo(s"$t.branch_work").overwritePartitions()
    row(7, "b").writeTo(t).option("branch", "work").overwrite(col("p") === "b")
    assert(ids(spark.table(s"$t.branch_work")) == Seq(3, 4, 5, 6, 7))
    assert(ids(spark.read.format("iceberg-lite").option("branch", "work").load(t)) == Seq(3, 4, 5, 6, 7))
    assert(ids(spark.read.option("branch", "work").table(t)) == Seq(3, 4, 5, 6, 7))
    assert(ids(spark.table(t)) == Seq(1, 2))
  }

  test("reads and writes fail if the table name and an option select different states; reads with two options fail") {
    val t = table("(1, 'a')")
    Seq("work", "other").foreach(b => sql(s"ALTER TABLE $t CREATE BRANCH $b"))
    val error = intercept[AnalysisException](row(2, "b").writeTo(s"$t.branch_work").option("branch", "other").append())
    assert(error.getMessage.contains("The table name selects the branch work"))
    row(2, "b").writeTo(s"$t.branch_work").option("branch", "work").append()
    assert(ids(spark.read.option("branch", "work").table(s"$t.branch_work")) == Seq(1, 2))
    Seq("branch" -> "other", "snapshot-id" -> "1", "tag" -> "work").foreach { case (key, value) =>
      intercept[AnalysisException](spark.read.option(key, value).table(s"$t.branch_work").count())
    }
    val twoOptions = spark.read.format("iceberg-lite").option("branch", "work").option("as-of-timestamp", "1")
    assert(intercept[AnalysisException](twoOptions.load(t)).getMessage.contains("Only one of these options"))
  }

  test("a write to a branch that does not exist fails and adds no data file to the table") {
    val t = table("(1, 'a')")
    val e = intercept[StatementError](row(2, "b").writeTo(t).option("branch", "wrok").append())
    assert(e.error.isInstanceOf[NotFound] && e.getMessage.contains("wrok") && e.getMessage.contains("main"))
    intercept[StatementError](row(2, "b").writeTo(s"$t.branch_wrok").append())
    assert(files(t).size == 1)
  }

  test("cached results of a table and its branches are refreshed by procedures and statements", Slow) {
    val t = table("(1, 'a')", "(2, 'b')")
    val first = rows(s"SELECT snapshot_id FROM $t.snapshots").head.getLong(0)
    sql(s"ALTER TABLE $t CREATE BRANCH work AS OF VERSION $first")
    val frames = Seq(spark.table(t), spark.table(s"$t.branch_work"), sql(s"SELECT * FROM $t VERSION AS OF 'work'"))
    frames.foreach(_.cache().count())
    try {
      sql(s"CALL lite.system.fast_forward('${ident(t)}', 'work', 'main')")
      assert(frames.tail.map(ids(_)) == Seq(Seq(1, 2), Seq(1, 2)))
      assert(ids(sql(s"SELECT * FROM $t VERSION AS OF 'work'")) == Seq(1, 2))
      sql(s"CALL lite.system.rollback_to_snapshot('${ident(t)}', $first)")
      assert(ids(spark.table(t)) == Seq(1))
      sql(s"ALTER TABLE $t REPLACE BRANCH work")
      assert(ids(spark.table(s"$t.branch_work")) == Seq(1))
    } finally frames.foreach(_.unpersist())
  }

  test("a session with a WAP branch does not read the cached rows of the main branch", Slow) {
    val t = table("(1, 'a')")
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.wap.enabled' = 'true')")
    val cached = spark.table(t).cache()
    try {
      assert(cached.count() == 1)
      withConf(WriteAuditPublish.BranchKey -> "audit") {
        sql(s"INSERT INTO $t VALUES (2, 'b')")
        assert(ids(spark.table(t)) == Seq(1, 2))
      }
      assert(ids(spark.table(t)) == Seq(1))
    } finally cached.unpersist()
  }

  test("a procedure runs once, when it is called, regardless of how its result is used", Slow) {
    val t = table("(1, 'a')")
    val versionsBefore = rows(s"SELECT count(*) FROM $t.metadata_log_entries")
    val frame = sql(s"CALL lite.system.fast_forward('${ident(t)}', 'made', 'main')")
    assert(frame.queryExecution.commandExecuted.isInstanceOf[CommandResult])
    assert(frame.where("branch_updated = 'made'").select("updated_ref").count() == 1 && frame.collect().length == 1)
    assert(rows(s"SELECT count(*) FROM $t.metadata_log_entries").head.getLong(0) == versionsBefore.head.getLong(0) + 1)
    intercept[NoSuchTableException](sql(s"CALL lite.system.ancestors_of('$ns.nothing')"))
  }

  // In the next three tests, Apache Iceberg makes the concurrent commits. Iceberg-lite is not notified of these
  // commits, just as it is not notified of commits from another machine.

  test("statements about branches and procedures see commits of other writers", Slow) {
    val t = table("(1, 'a')")
    assert(ids(spark.table(t)) == Seq(1))
    sql(s"INSERT INTO ${inApacheIceberg(t)} VALUES (2, 'b')")
    val newest = rows(s"SELECT snapshot_id FROM ${inApacheIceberg(t)}.snapshots").last.getLong(0)
    sql(s"ALTER TABLE $t CREATE TAG now")
    assert(rows(s"SELECT snapshot_id FROM $t.refs WHERE name = 'now'").map(_.getLong(0)) == Seq(newest))
    sql(s"INSERT INTO ${inApacheIceberg(t)} VALUES (3, 'c')")
    assert(sql(s"CALL lite.system.ancestors_of('$t')").count() == 3)
    sql(s"INSERT INTO ${inApacheIceberg(t)} VALUES (4, 'd')")
    val last = rows(s"SELECT snapshot_id FROM ${inApacheIceberg(t)}.snapshots").last.getLong(0)
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('current-snapshot-id' = '$last')")
    assert(ids(spark.table(t)) == Seq(1, 2, 3, 4))
  }

  test("DELETE also deletes rows that another writer appended after the session loaded the table") {
    val t = table("(1, 'a'), (2, 'b')")
    assert(ids(spark.table(t)) == Seq(1, 2))
    sql(s"INSERT INTO ${inApacheIceberg(t)} VALUES (3, 'a'), (4, 'b')")
    sql(s"DELETE FROM $t WHERE p = 'a'")
    assert(ids(spark.table(t)) == Seq(2, 4))
  }

  test("DELETE fails if a concurrently appended file has both rows that match and rows that do not match") {
    val t = table("(1, 'a'), (20, 'b')")
    assert(ids(spark.table(t)) == Seq(1, 20))
    row(2, "a").union(row(30, "a")).coalesce(1).writeTo(inApacheIceberg(t)).append()
    val e = intercept[StatementError](sql(s"DELETE FROM $t WHERE id < 10"))
    assert(e.error.isInstanceOf[ConcurrentChange])
    sql(s"REFRESH TABLE $t")
    assert(ids(spark.table(t)) == Seq(1, 2, 20, 30))
  }

  test("a serializable overwrite of a branch fails after a conflicting commit to it, but not after one to main") {
    val t = table("(1, 'a')")
    sql(s"ALTER TABLE $t CREATE BRANCH work")
    val read = rows(s"SELECT snapshot_id FROM $t.refs WHERE name = 'work'").head.getLong(0)
    def overwrite(level: String): Unit = row(9, "a").writeTo(s"$t.branch_work")
      .option("isolation-level", level).option("validate-from-snapshot-id", read.toString).overwrite(col("p") === "a")
    sql(s"INSERT INTO $t VALUES (2, 'a')")
    overwrite("serializable")
    assert(ids(spark.table(s"$t.branch_work")) == Seq(9))
    val e = intercept[Exception](overwrite("serializable"))
    assert(Iterator.iterate(e: Throwable)(_.getCause).takeWhile(_ != null).exists(_.isInstanceOf[ConcurrentChange]))
    assert(ids(spark.table(t)) == Seq(1, 2))
  }
}
