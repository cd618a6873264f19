package iceberglite.spark.inspect

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession
import iceberglite.spark.error.StatementError
import iceberglite.spec.IcebergError.Unsupported

/** Checks reads of metadata tables at a branch, tag or snapshot. */
class MetadataTableReferencesSuite extends AnyFunSuite with SharedSession {

  test("branch, tag and snapshot-id select the snapshot of a metadata table; snapshots, refs and history reject them") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg")
    sql(s"INSERT INTO $t VALUES (1)")
    sql(s"ALTER TABLE $t CREATE TAG v1")
    sql(s"ALTER TABLE $t CREATE BRANCH work")
    sql(s"INSERT INTO $t.branch_work VALUES (2)")
    sql(s"INSERT INTO $t VALUES (3)")
    sql(s"INSERT INTO $t VALUES (4)")
    val first = rows(s"SELECT snapshot_id FROM $t.refs WHERE name = 'v1'").head.getLong(0).toString
    def paths(table: String, options: (String, String)*): Seq[String] =
      spark.read.options(options.toMap).table(table).select("file_path").collect().map(_.getString(0)).toSeq.sorted
    val onBranch = rows(s"SELECT file_path FROM $t.branch_work.files").map(_.getString(0)).sorted
    assert(onBranch.size == 2 && paths(s"$t.files").size == 3)
    assert(paths(s"$t.files", "branch" -> "work") == onBranch)
    assert(paths(s"$t.data_files", "branch" -> "work") == onBranch)
    Seq("tag" -> "v1", "snapshot-id" -> first).foreach { option =>
      assert(paths(s"$t.files", option).size == 1)
      assert(paths(s"$t.files", option) == paths(s"${inApacheIceberg(t)}.files", option))
    }
    Seq("snapshots", "refs", "history").foreach { view =>
      val error = intercept[AnalysisException](spark.read.option("branch", "work").table(s"$t.$view").collect())
      assert(error.getMessage.contains("does not support time travel"), view)
    }
  }

  test("the table rewrite of Apache Iceberg is rejected with the columns to select instead, by name and by path") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    sql(s"INSERT INTO $t VALUES (7)")
    val name = t.stripPrefix("lite.")
    val file = rows(s"SELECT file FROM $t.metadata_log_entries").head.getString(0)
    val location = file.substring(0, file.indexOf("/metadata/"))
    def rejected(read: => DataFrame): Unsupported = intercept[StatementError](read.collect()).error match {
      case unsupported: Unsupported => unsupported
      case other => fail(other)
    }
    assert(rejected(sql(s"SELECT * FROM $t.rewrite")).what == s"the metadata table rewrite of $name")
    assert(rejected(sql(s"SELECT * FROM $t.REWRITE")).what == s"the metadata table rewrite of $name")
    val byPath = rejected(spark.read.format("iceberg-lite").load(s"$location#rewrite"))
    assert(byPath.what == s"the metadata table rewrite of $location")
    // The advice of the error is a query that works.
    val select = s"*, _row_id and _last_updated_sequence_number from $name"
    assert(rejected(sql(s"SELECT * FROM $t.rewrite")).advice.contains(select))
    assert(rows(s"SELECT *, _row_id, _last_updated_sequence_number FROM $t") == Seq(Row(7, 0L, 1L)))
    val missing = intercept[AnalysisException](sql(s"SELECT * FROM ${t}_missing.rewrite"))
    assert(missing.getErrorClass == "TABLE_OR_VIEW_NOT_FOUND")
  }
}
