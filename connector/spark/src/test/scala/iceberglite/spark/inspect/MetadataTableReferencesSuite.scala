package iceberglite.spark.inspect

import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession

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
}
