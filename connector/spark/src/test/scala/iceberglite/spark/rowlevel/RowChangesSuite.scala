package iceberglite.spark.rowlevel

import org.apache.spark.sql.connector.read.SupportsReportStatistics
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.spark.SharedSession
import iceberglite.spark.table.SparkTable
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.table.SnapshotTarget
import iceberglite.table.action.DeleteFiles

/**
 * Checks which files DELETE, UPDATE and MERGE write, which files they leave unchanged, and what they do if there are
 * other commits while they run.
 */
class RowChangesSuite extends AnyFunSuite with StatementFixture {
  private val Columns = "id BIGINT, n BIGINT"

  private def deleteFiles(t: String): Seq[(String, Long)] =
    rows(s"SELECT referenced_data_file, record_count FROM $t.delete_files").map(r => (r.getString(0), r.getLong(1)))

  for ((version, kind) <- Seq(2 -> "position delete files", 3 -> "deletion vector"))
    test(
      s"after several DELETE statements, a data file has only the $kind of the last statement",
      Sampling.slowInSomeRuns(isAlwaysRun = version == 3): _*
    ) {
      val t = create(Columns, version, "merge-on-read", "write.parquet.row-group-size-bytes" -> "20000")
      sql(s"INSERT INTO $t SELECT id, xxhash64(id) FROM range(0, 20000, 1, 1)")
      sql(s"ALTER TABLE $t SET TBLPROPERTIES ('read.split.target-size' = '40000', 'read.split.open-file-cost' = '1')")
      Seq(3, 5, 7).foreach(n => sql(s"DELETE FROM $t WHERE id % $n = 0"))
      val tasks = spark.table(t).rdd.getNumPartitions
      assert(tasks > 1, "the file must be read by several tasks")
      val expected = (0 until 20000).count(i => i % 3 != 0 && i % 5 != 0 && i % 7 != 0)
      if (version == 3) assert(deleteFiles(t).size == 1)
      else assert(deleteFiles(t).size <= tasks, "each task of the last statement must have written at most one file")
      assert(deleteFiles(t).map(_._2).sum == 20000L - expected)
      val added = rows(s"SELECT DISTINCT snapshot_id FROM $t.entries WHERE status < 2 AND data_file.content = 1")
      assert(added.map(_.getLong(0)) == live(t).currentSnapshot.map(_.snapshotId).toSeq)
      assert(count(t) == expected && count(inApacheIceberg(t)) == expected)
    }

  test("a position delete file with partition granularity contains deletes of several data files", Slow) {
    val t = filled(2, "merge-on-read", "write.delete.granularity" -> "partition")
    sql(s"DELETE FROM $t WHERE n = 4")
    val files = rows(s"SELECT file_path FROM $t.delete_files").map(_.getString(0))
    assert(files.exists(file => spark.read.parquet(file).select("file_path").distinct().count() == 2))
    assert(deleteFiles(t).map(_._2).sum == 100 && count(t) == 900 && count(inApacheIceberg(t)) == 900)
  }

  test("files without a matching row are not rewritten") {
    val t = filled(2, "copy-on-write")
    val before = rows(s"SELECT file_path FROM $t.files").map(_.getString(0)).toSet
    sql(s"UPDATE $t SET n = -1 WHERE id IN (SELECT 3)")
    val after = rows(s"SELECT file_path FROM $t.files").map(_.getString(0)).toSet
    assert((before & after).size == 1 && count(t, "n = -1") == 1)
  }

  test("copy-on-write does not split the rows of large files into smaller files", Slow) {
    val t = create(Columns, 2, "copy-on-write", "write.parquet.row-group-size-bytes" -> "20000")
    (0 until 4).foreach(i =>
      sql(s"INSERT INTO $t SELECT id, xxhash64(id) FROM range(${i * 9000}, ${i * 9000 + 9000}, 1, 1)")
    )
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('read.split.target-size' = '40000', 'read.split.open-file-cost' = '1')")
    def files = rows(s"SELECT file_path FROM $t.files").map(_.getString(0)).toSet
    val before = files
    assert(before.size == 4 && spark.table(t).rdd.getNumPartitions > 4, "each file must be read by several tasks")
    sql(s"UPDATE $t SET n = 0 WHERE id % 1000 = 1")
    assert((before & files).isEmpty && rows(s"SELECT record_count FROM $t.files").forall(_.getLong(0) >= 9000))
  }

  for (mode <- Seq("copy-on-write", "merge-on-read")) {
    test(
      s"conditions can use metadata columns ($mode)",
      Sampling.slowInSomeRuns(isAlwaysRun = mode == "merge-on-read"): _*
    ) {
      val t = filled(3, mode)
      sql(s"DELETE FROM $t WHERE _ROW_ID = 17")
      sql(
        s"UPDATE $t SET n = 500 WHERE _Pos = 3 AND _file LIKE '%.parquet' AND _FILE IN (SELECT DISTINCT _file FROM $t)"
      )
      sql(
        s"MERGE INTO $t t USING (SELECT 21L AS k) u ON t._row_id = u.k " +
          "WHEN MATCHED AND t._last_updated_sequence_number = 1 THEN UPDATE SET n = t._row_id"
      )
      assert(count(t, "id = 17") == 0 && count(t) == 999 && count(t, "n = 500") == 2)
      assert(rows(s"SELECT n, _row_id FROM $t WHERE id = 21").map(_.toSeq) == Seq(Seq(21L, 21L)))
      val error = intercept[Exception](sql(s"UPDATE $t SET _row_id = 1 WHERE _pos = 3"))
      assert(messages(error).contains("It is a metadata column"), messages(error))
      assert(rows(s"SELECT _row_id FROM $t WHERE _row_id = 1").size == 1)
    }

    test(
      s"a MERGE can match rows by their file and position ($mode)",
      Sampling.slowInSomeRuns(isAlwaysRun = mode == "merge-on-read"): _*
    ) {
      for (text <- Seq("STRING", "CHAR(3)", "VARCHAR(3)")) {
        val t = create(s"id BIGINT, c $text", 2, mode)
        def files = rows(s"SELECT file_path FROM $t.data_files").map(_.getString(0)).toSet
        sql(s"INSERT INTO $t SELECT id % 60, concat('c', id % 5) FROM range(0, 100, 1, 2)")
        val numberedRows =
          s"(SELECT _file AS f, _pos AS p, row_number() OVER (PARTITION BY id ORDER BY _file, _pos) AS n FROM $t)"
        val duplicates = spark.sql(s"SELECT f, p FROM $numberedRows WHERE n > 1").cache()
        duplicates.createOrReplaceTempView("duplicates")
        val before = files
        sql(s"MERGE INTO $t t USING duplicates u ON t._FILE = u.f AND t._pos = u.p WHEN MATCHED THEN DELETE")
        assert((before & files).size == (if (mode == "copy-on-write") 1 else 2), "one file has no duplicates")
        duplicates.unpersist()
        assert(count(t) == 60 && rows(s"SELECT DISTINCT id, c FROM $t").size == 60)
        sql(s"MERGE INTO $t t USING $t u ON t._pos = u._pos AND t._file = u._file AND u.id < 7 " +
          "WHEN MATCHED AND t._pos = u._pos THEN UPDATE SET id = t.id + 1000")
        assert(count(t) == 60 && count(t, "id >= 1000") == 7)
        // The source of this MERGE has a window function and a join.
        sql(s"MERGE INTO $t t USING (SELECT x._file AS f, x._pos AS p, y.id AS y, " +
          s"row_number() OVER (PARTITION BY x.id ORDER BY x._pos) AS n FROM $t x LEFT JOIN $t y ON x.id = y.id) u " +
          "ON t._file = u.f AND t._pos = u.p WHEN MATCHED AND u.y < 10 THEN DELETE")
        assert(count(t) == 57)
        val filesBefore = files
        sql(s"MERGE INTO $t t USING (SELECT * FROM VALUES ('f', 1L) AS v (f, p) WHERE false) u " +
          "ON t._file = u.f AND t._pos = u.p WHEN MATCHED THEN DELETE")
        assert(files == filesBefore, "a MERGE whose source has no rows must write nothing")
        sql(s"MERGE INTO $t t USING $t u ON t._pos IS NOT NULL AND u.id > 5000 WHEN MATCHED THEN DELETE")
        assert(count(t) == 57)
      }
    }

    test(
      s"a MERGE that matches rows by position can insert rows into a table with a CHAR column ($mode)",
      Sampling.slowInSomeRunsUnless(mode == "merge-on-read"): _*
    ) {
      val t = create(s"id BIGINT, c CHAR(3)", 2, mode)
      sql(s"INSERT INTO $t SELECT id, concat('c', id % 5) FROM range(0, 100, 1, 2)")
      sql(s"MERGE INTO $t t USING (SELECT * FROM VALUES (1L), (1000L) AS v (p)) u ON t._pos = u.p " +
        "WHEN MATCHED THEN UPDATE SET id = -1 WHEN NOT MATCHED THEN INSERT (id, c) VALUES (u.p, 'n')")
      assert(count(t) == 101 && count(t, "id = -1") == 2 && count(t, "id = 1000 AND c = 'n'") == 1)
    }

    test(
      s"a statement is rejected if a column hides a metadata column that the statement needs ($mode)",
      Sampling.slowInSomeRunsUnless(mode == "merge-on-read"): _*
    ) {
      val hidden = if (mode == "copy-on-write") "_file" else "_pos"
      val t = filled(3, mode)
      sql(s"ALTER TABLE $t RENAME COLUMN n TO $hidden")
      val source = s"(SELECT 1L AS id, 2L AS k) u"
      Seq(
        s"DELETE FROM $t WHERE id IN (SELECT 3)",
        s"UPDATE $t SET id = 5 WHERE id = 3",
        s"MERGE INTO $t t USING $source ON t.id = u.id WHEN MATCHED THEN UPDATE SET id = 9 WHEN NOT MATCHED THEN " +
          "INSERT (id) VALUES (u.id)"
      ).foreach { statement =>
        val error = messages(intercept[Exception](sql(statement)))
        assert(error.contains(s"whose column $hidden hides the metadata column of that name"), error)
      }
      assert(count(t) == 1000)
    }

    test(
      s"a statement that changes no row commits nothing ($mode)",
      Sampling.slowInSomeRunsUnless(mode == "copy-on-write"): _*
    ) {
      val t = filled(2, mode)
      val before = count(s"$t.snapshots")
      sql(s"DELETE FROM $t WHERE id = -5")
      sql(s"UPDATE $t SET n = 1 WHERE id < 0 AND n > 100")
      sql(s"MERGE INTO $t t USING (SELECT -7 AS id) u ON t.id = u.id WHEN MATCHED THEN DELETE")
      assert(count(s"$t.snapshots") == before)
    }

    test(
      s"a statement with a failed task leaves the table and its directory unchanged ($mode)",
      Sampling.slowInSomeRunsUnless(mode == "merge-on-read"): _*
    ) {
      val t = filled(2, mode)
      spark.udf.register("fail_late", (id: Long) => if (id == 990) throw new IllegalStateException("no more") else id)
      assertUnchanged(t) {
        val error = intercept[Exception](sql(s"UPDATE $t SET n = fail_late(id) WHERE n < 5 OR id > 900"))
        assert(messages(error).contains("no more"))
      }
    }

    test(
      s"if rows are added concurrently, an UPDATE fails under serializable, but not snapshot isolation ($mode)",
      Sampling.slowInSomeRunsUnless(mode == "merge-on-read"): _*
    ) {
      val serializable = filled(2, mode)
      commitWhenCalled(serializable)(addCopy(_))
      assertLeavesNoFiles(serializable) {
        val error = intercept[Exception](sql(s"UPDATE $serializable SET n = commit_and_return(id % 1 + 7) WHERE n = 3"))
        assert(
          messages(error).contains("isolation level serializable") && messages(error).contains("Run the statement")
        )
      }
      val snapshot = filled(2, mode, "write.update.isolation-level" -> "snapshot")
      commitWhenCalled(snapshot)(addCopy(_))
      sql(s"UPDATE $snapshot SET n = commit_and_return(id % 1 + 7) WHERE n = 3")
      assert(count(snapshot, "n = 3") == 50 && count(snapshot, "n = 7") == 250)
    }

    test(
      s"an UPDATE fails if a concurrent commit removes the file of a changed row ($mode)",
      Sampling.slowInSomeRunsUnless(mode == "copy-on-write"): _*
    ) {
      val t = filled(2, mode, "write.update.isolation-level" -> "snapshot")
      commitWhenCalled(t)(table =>
        table.transaction().add(new DeleteFiles(AlwaysTrue, to = SnapshotTarget.Main)).commit()
      )
      val error = intercept[Exception](sql(s"UPDATE $t SET n = commit_and_return(id % 1 + 7) WHERE n = 3"))
      assert(messages(error).contains("not in the table any more"), messages(error))
      assert(count(t) == 0)
    }

    test(
      s"statements change a branch if the table name ends with branch_<name> ($mode)",
      Sampling.slowInSomeRunsUnless(mode == "copy-on-write"): _*
    ) {
      val t = filled(2, mode)
      sql(s"ALTER TABLE $t CREATE BRANCH work")
      sql(s"DELETE FROM $t.branch_work WHERE id < 10")
      sql(s"UPDATE $t.branch_work SET n = 100 WHERE id = 10")
      assert(count(t) == 1000 && count(s"$t.branch_work") == 990 && count(s"$t.branch_work", "n = 100") == 1)
      sql(s"ALTER TABLE $t CREATE TAG kept")
      val error = intercept[Exception](sql(s"DELETE FROM $t.tag_kept WHERE id = 1"))
      assert(messages(error).contains("Only the table itself and its branches can be changed"))
    }
  }

  test("without the extensions, merge-on-read keeps the row ids of version 3, and copy-on-write is rejected") {
    val t = filled(3, "copy-on-write")
    inSession(SharedSession.withoutExtensions) { plain =>
      val error = intercept[Exception](plain.sql(s"DELETE FROM $t WHERE id = 1"))
      assert(messages(error).contains("spark.sql.extensions") && messages(error).contains("write.delete.mode"))
      sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.update.mode' = 'merge-on-read')")
      plain.sql(s"UPDATE $t SET n = 77 WHERE id = 999")
    }
    assert(rows(s"SELECT n, _row_id FROM $t WHERE id = 999").map(_.toSeq) == Seq(Seq(77L, 999L)))
  }

  for ((version, mode) <- Seq(2 -> "copy-on-write", 3 -> "copy-on-write", 3 -> "merge-on-read"))
    test(
      s"Spark's cached results of a table are refreshed after a change (version $version, $mode)",
      Sampling.slowInSomeRuns(isAlwaysRun = version == 3 && mode == "merge-on-read"): _*
    ) {
      val t = filled(version, mode)
      sql(s"CACHE TABLE $t")
      sql(s"CACHE TABLE cached_rows AS SELECT id, n FROM $t")
      try {
        sql(s"UPDATE $t SET n = 55 WHERE id = 5")
        assert(count("cached_rows", "n = 55") == 1)
        sql(s"DELETE FROM $t WHERE id = 5")
        sql(s"MERGE INTO $t t USING (SELECT 6 AS id) u ON t.id = u.id WHEN MATCHED THEN UPDATE SET n = 66")
        assert(count("cached_rows", "n = 55") == 0 && count("cached_rows", "n = 66") == 1)
        sql(s"DELETE FROM $t")
        assert(count("cached_rows") == 0 && count(t) == 0)
      } finally {
        sql("DROP VIEW cached_rows")
        sql(s"UNCACHE TABLE $t")
      }
    }

  for (mode <- Seq("copy-on-write", "merge-on-read"))
    test(
      s"a statement that reads its table several times reads the same snapshot each time ($mode)",
      Sampling.slowInSomeRunsUnless(mode == "copy-on-write"): _*
    ) {
      val t = filled(2, mode)
      val commits = commitWhenCalled(t)(table => table.transaction().add(new DeleteFiles(AlwaysTrue)).commit())
      // Spark evaluates the second subquery, which commits a concurrent delete, while it optimizes the statement.
      // After that, Spark plans the scan that reads the rows to update.
      val last = s"id IN (SELECT max(id) FROM $t) AND id IN (SELECT commit_and_return(k) FROM VALUES (999L) AS v (k))"
      val error = intercept[Exception](sql(s"UPDATE $t SET n = -1 WHERE $last"))
      assert(messages(error).contains("not in the table any more") && commits() == 1, messages(error))
    }

  test("the source of a MERGE is read at the snapshot that was current when the statement was analyzed") {
    val (t, source) = (filled(2, "copy-on-write"), filled(2, "copy-on-write"))
    val merge = s"MERGE INTO $t t USING $source s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = s.n"
    val command = spark.sessionState.sqlParser.parsePlan(merge)
    val sources = spark.sessionState.executePlan(command).analyzed.collectWithSubqueries {
      case DataSourceV2Relation(table: SparkTable, _, _, _, _) if table.name == source => table
    }
    sql(s"INSERT INTO $source VALUES (1000, 0)")
    val scans = sources.map(_.newScanBuilder(CaseInsensitiveStringMap.empty).build())
    val rowCounts = scans.collect { case s: SupportsReportStatistics => s.estimateStatistics().numRows.getAsLong }
    assert(rowCounts.nonEmpty && rowCounts.forall(_ == 1000))
  }

  test("a merge-on-read DELETE of a version 1 table is rejected") {
    val t = filled(1, "merge-on-read")
    val error = intercept[Exception](sql(s"DELETE FROM $t WHERE id = 1"))
    assert(messages(error).contains("write.delete.mode") && messages(error).contains("format-version"))
  }

  /** Runs `body`, a statement that fails because of a concurrent commit, and checks that it leaves no data files. */
  private def assertLeavesNoFiles(t: String)(body: => Unit): Unit = {
    val before = filesOf(t).filter(_.toString.contains("/data/"))
    body
    val after = filesOf(t).filter(_.toString.contains("/data/"))
    assert((after -- before).forall(_.toString.contains("-copy.parquet")), (after -- before).mkString(", "))
  }
}
