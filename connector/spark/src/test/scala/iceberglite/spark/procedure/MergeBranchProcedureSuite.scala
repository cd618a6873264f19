package iceberglite.spark.procedure

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession

/** Tests `CALL merge_branch`. */
class MergeBranchProcedureSuite extends AnyFunSuite with SharedSession {

  test("Apache Iceberg reads the merged branch, with the rows of both branches", Slow) {
    for (version <- Seq(2, 3); mode <- Seq("copy-on-write", "merge-on-read")) {
      val t = newTable(s"v$version")
      sql(
        s"CREATE TABLE $t (id BIGINT, p STRING) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('format-version' = " +
          s"'$version', 'write.delete.mode' = '$mode', 'write.update.mode' = '$mode', 'write.merge.mode' = '$mode')"
      )
      sql(s"INSERT INTO $t SELECT id, concat('p', id % 4) FROM range(40)")
      sql(s"ALTER TABLE $t CREATE BRANCH work")
      sql(s"INSERT INTO $t.branch_work VALUES (100, 'p0'), (101, 'new')")
      sql(s"DELETE FROM $t.branch_work WHERE id IN (0, 4)")
      SharedSession.liteExtensions.sql(s"UPDATE $t.branch_work SET id = id + 1000 WHERE p = 'p1' AND id < 20")
      sql(s"DELETE FROM $t WHERE id IN (2, 6)")
      sql(s"INSERT INTO $t VALUES (200, 'p0'), (201, 'new')")
      val expected = sql(s"SELECT id FROM range(40) WHERE id NOT IN (0, 4, 2, 6) AND NOT (id % 4 = 1 AND id < 20)")
        .collect().map(_.getLong(0)).toSet ++ Seq(1001L, 1005L, 1009L, 1013L, 1017L) ++ Seq(100L, 101L, 200L, 201L)
      sql(s"CALL lite.system.merge_branch('${t.stripPrefix("lite.")}', 'work')")
      val merged = rows(s"SELECT id FROM $t").map(_.getLong(0))
      assert(merged.size == expected.size && merged.toSet == expected, s"version $version, $mode")
      sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
      assert(
        sorted(s"SELECT id, p FROM $t") == sorted(s"SELECT id, p FROM ${inApacheIceberg(t)}"),
        s"version $version, $mode"
      )
      if (version == 3) {
        val ids = rows(s"SELECT count(*), count(DISTINCT _row_id) FROM $t").head
        assert(ids.getLong(0) == ids.getLong(1), "row ids must be unique")
        assert(
          sorted(s"SELECT id, _row_id FROM $t") == sorted(s"SELECT id, _row_id FROM ${inApacheIceberg(t)}"),
          "Apache Iceberg must read the same row ids"
        )
      }
    }
  }
}
