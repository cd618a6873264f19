package iceberglite.spark.rowlevel

import org.apache.spark.sql.catalyst.parser.ParseException
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling

/** Checks options in statements that change rows: `DELETE FROM t WITH ('key' = 'value') WHERE ...`. */
class StatementOptionsSuite extends AnyFunSuite with StatementFixture {

  private def rejection(statement: String): String = messages(intercept[Exception](sql(statement)))

  for (mode <- Seq("copy-on-write", "merge-on-read"))
    test(
      s"options apply in every statement, before or after the alias of the table ($mode)",
      Sampling.slowInSomeRuns(isAlwaysRun = mode == "merge-on-read"): _*
    ) {
      val t = filled(2, mode)
      def withOptions(n: Int) = s"WITH ('snapshot-property.n' = '$n', `snapshot-property.Who` 'me')"
      sql(s"DELETE FROM $t ${withOptions(1)} WHERE id = 1")
      assert(summaryOf(t).get("n").contains("1") && summaryOf(t).get("Who").contains("me"))
      sql(s"DELETE FROM $t ${withOptions(2)} AS x WHERE x.id = 2")
      sql(s"DELETE FROM $t x ${withOptions(3)} WHERE x.id IN (SELECT 3)")
      assert(summaryOf(t).get("n").contains("3"))
      sql(s"UPDATE $t ${withOptions(4)} SET n = 100 WHERE id = 4")
      assert(summaryOf(t).get("n").contains("4"))
      sql(s"UPDATE $t AS x ${withOptions(5)} SET n = 100 WHERE x.id = 5")
      sql(s"MERGE INTO $t ${withOptions(6)} x USING (SELECT 6 AS id) s ON x.id = s.id " +
        "WHEN MATCHED THEN UPDATE SET n = 100")
      assert(summaryOf(t).get("n").contains("6"))
      val inserts = "WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, 100)"
      val named = "WITH s AS (SELECT 7000 AS id), r (k) AS (SELECT ')')"
      sql(s"$named MERGE INTO $t x ${withOptions(7)} USING s ON x.id = s.id $inserts")
      assert(summaryOf(t).get("n").contains("7") && summaryOf(t).get("operation").contains("append"))
      sql(s"INSERT INTO $t ${withOptions(8)} VALUES (8000, 100)")
      assert(summaryOf(t).get("n").contains("8"))
      sql(s"INSERT INTO TABLE $t ${withOptions(9)} (n, id) SELECT n, id + 1 FROM $t WHERE id = 8000")
      assert(summaryOf(t).get("n").contains("9"))
      assert(count(t) == 1000 && count(t, "n = 100") == 6 && count(t, "id IN (1, 2, 3)") == 0)
      sql(s"INSERT OVERWRITE $t ${withOptions(10)} SELECT 1, 2")
      assert(summaryOf(t).get("n").contains("10") && count(t) == 1)
      sql(s"INSERT INTO $t ${withOptions(11)} BY NAME SELECT 3 AS n, 2 AS id")
      assert(summaryOf(t).get("n").contains("11"))
      sql(s"INSERT INTO $t ${withOptions(12)} REPLACE WHERE id = 2 SELECT 2, 4")
      assert(summaryOf(t).get("n").contains("12") && sorted(s"SELECT * FROM $t") == Seq("[1,2]", "[2,4]"))
    }

  test("options and the snapshot properties of the session also apply to a DELETE of whole files") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, p INT) USING iceberg PARTITIONED BY (p)")
    sql(s"INSERT INTO $t SELECT id, id % 4 FROM range(0, 100)")
    val prefix = "spark.sql.iceberg.snapshot-property."
    withConf(s"${prefix}who" -> "session", s"${prefix}Team" -> "x") {
      sql(s"DELETE FROM $t WITH ('snapshot-property.who' = 'statement') WHERE p = 1")
    }
    val summary = summaryOf(t)
    assert(summary("who") == "statement" && summary("Team") == "x" && summary("operation") == "delete")
    assert(!summary.contains("added-data-files") && count(t) == 75)
    withConf("spark.sql.iceberg.snapshot-property.who" -> "session") {
      sql(s"UPDATE $t SET id = -1 WHERE id = 2")
      assert(summaryOf(t)("who") == "session")
      sql(s"INSERT INTO $t VALUES (1, 1)")
      assert(summaryOf(t)("who") == "session")
    }
    sql(s"DELETE FROM $t WITH (`snapshot-property`.n = 1)")
    assert(summaryOf(t)("n") == "1" && count(t) == 0)
  }

  test("write options apply to the rows that a statement writes", Slow) {
    val t = filled(2, "copy-on-write")
    sql(s"UPDATE $t WITH ('write-format' = 'orc', 'compression-codec' = 'zlib') SET n = 1 WHERE id = 3")
    assert(rows(s"SELECT DISTINCT file_format FROM $t.files").map(_.getString(0)).toSet == Set("ORC", "PARQUET"))
    val merge = "USING (SELECT id FROM range(0, 1000)) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = xxhash64(s.id)"
    sql(s"MERGE INTO $t WITH ('target-file-size-bytes' = 1000) t $merge")
    val smallFileCount = count(s"$t.files")
    sql(s"MERGE INTO $t t $merge")
    assert(smallFileCount > count(s"$t.files"))
  }

  for (mode <- Seq("copy-on-write", "merge-on-read")) {
    test(
      s"a statement with the option branch reads and writes the branch ($mode)",
      Sampling.slowInSomeRunsUnless(mode == "copy-on-write"): _*
    ) {
      val t = filled(2, mode)
      sql(s"ALTER TABLE $t CREATE BRANCH b")
      sql(s"DELETE FROM $t WITH ('branch' = 'b') WHERE id < 10")
      sql(s"UPDATE $t WITH ('branch' = 'b') SET n = (SELECT count(*) FROM $t) WHERE id = 10")
      val source = s"(SELECT id FROM $t WHERE id < 10) s"
      sql(s"MERGE INTO $t WITH ('branch' = 'b') t USING $source ON t.id = s.id " +
        "WHEN NOT MATCHED THEN INSERT (id) VALUES (id)")
      assert(count(s"$t.branch_b", "id < 10 AND n IS NULL") == 10 && count(s"$t.branch_b", "n = 1000") == 1)
      sql(s"DELETE FROM $t.branch_b WITH ('branch' = 'b')")
      assert(count(s"$t.branch_b") == 0 && count(t) == 1000 && count(t, "n IS NULL OR n = 1000") == 0)
      assert(rejection(s"DELETE FROM $t.branch_b WITH ('branch' = 'c') WHERE id = 1").contains("remove one of them"))
      assert(rejection(s"DELETE FROM $t WITH ('branch' = 'c') WHERE id = 1").contains("Branch not found: c"))
    }

    test(
      s"the option isolation-level takes precedence over the table property ($mode)",
      Sampling.slowInSomeRunsUnless(mode == "merge-on-read"): _*
    ) {
      val t = filled(2, mode)
      commitWhenCalled(t)(addCopy(_))
      sql(s"UPDATE $t WITH ('isolation-level' = 'snapshot') SET n = commit_and_return(id % 1 + 7) WHERE n = 3")
      assert(count(t, "n = 3") == 50 && count(t, "n = 7") == 250)
      val u = filled(2, mode, "write.update.isolation-level" -> "snapshot")
      commitWhenCalled(u)(addCopy(_))
      val level = "WITH ('isolation-level' = 'serializable')"
      val error = rejection(s"UPDATE $u $level SET n = commit_and_return(id % 1 + 7) WHERE n = 3")
      assert(error.contains("isolation level serializable"))
    }
  }

  test("unsupported options and invalid values are rejected, with a suggestion for a misspelled option") {
    val t = filled(2, "merge-on-read")
    assert(rejection(s"DELETE FROM $t WITH ('isolation' = 'snapshot')").contains("DELETE has no such option"))
    assert(rejection(s"UPDATE $t WITH ('isolation-levl' = 'x') SET n = 1").contains("Did you mean isolation-level?"))
    assert(rejection(s"DELETE FROM $t WITH ('merge-schema' = true)").contains("DELETE has no such option"))
    assert(rejection(s"INSERT INTO $t WITH ('statement-retries' = 1) TABLE $t").contains("INSERT has no such option"))
    assert(rejection(s"UPDATE $t WITH ('upsert' = true) SET n = 1").contains("UPDATE has no such option"))
    assert(rejection(s"DELETE FROM $t WITH ('isolation-level' = 'none')").contains("serializable, snapshot"))
    assert(rejection(s"DELETE FROM $t WITH ('statement-retries' = -1)").contains("expected the value"))
    assert(rejection(s"DELETE FROM $t WITH ('statement-retries' = '-1')").contains("It must be 0 to"))
    assert(rejection(s"DELETE FROM $t WITH ('snapshot-property.' = '1')").contains("a key for the snapshot summary"))
    assert(count(t) == 1000 && count(s"$t.snapshots") == 1)
  }

  test("a syntax error after the options is reported with its position in the statement") {
    val t = filled(2, "merge-on-read")
    val error = intercept[ParseException](sql(s"DELETE FROM $t WITH ('branch' = 'b')\n  WHERE id = )"))
    assert(error.line.contains(2) && error.startPosition.contains(13), error.getMessage)
    Seq("()", "('a' = )", "('a' = 'b'", "('a' = 'b' 'c' = 'd')").foreach { list =>
      assert(rejection(s"DELETE FROM $t WITH $list").contains("Syntax error at or near"), list)
    }
    assert(rejection(s"DELETE FROM $t.files WITH ('branch' = 'b')").contains("remove WITH (...)"))
    Seq(
      s"DELETE FROM lite.$ns.gone WITH ('statement-retries' = 2)",
      s"DELETE FROM lite.$ns.gone WITH ('branch' = 'b')",
      s"MERGE WITH SCHEMA EVOLUTION INTO $t t USING lite.$ns.gone s ON t.id = s.id WHEN MATCHED THEN DELETE",
      s"UPDATE $t WITH ('branch' = 'main') SET gone = 1",
      s"INSERT INTO $t WITH ('branch' = 'main') TABLE gone"
    ).foreach(statement => assert(rejection(statement).contains("gone"), statement))
  }

  test("EXPLAIN shows the plan of a statement with options and changes nothing") {
    val t = filled(2, "merge-on-read")
    assertUnchanged(t) {
      val plan = rows(s"EXPLAIN EXTENDED DELETE FROM $t WITH ('statement-retries' = 3, 'branch' = 'main') WHERE id = 3")
        .head.getString(0)
      assert(plan.contains("WriteDelta") && plan.contains("(id#") && !plan.contains("RetriedStatement"))
    }
  }

  test("text in strings and comments, and WITH of a query, are not parsed as options") {
    val t = filled(2, "merge-on-read")
    sql(s"UPDATE $t SET n = length(' WITH (''a'' = 1)') /* WITH ('a' = 1) */ WHERE id = 1 -- WITH ('a' = 1)")
    sql(s"WITH w AS (SELECT 1 AS id) MERGE INTO $t t USING w ON w.id = t.id WHEN MATCHED THEN DELETE")
    sql(s"INSERT INTO $t WITH w AS (SELECT 7000 AS id) SELECT id, id FROM w")
    assert(count(t) == 1000 && count(t, "id = 1") == 0 && count(t, "id = 7000") == 1)
  }

  test("statements with options can use parameters and variables") {
    val t = filled(2, "merge-on-read")
    spark.sql(s"DELETE FROM $t WITH ('snapshot-property.n' = '1') WHERE id = :id", Map("id" -> 3))
    assert(summaryOf(t)("n") == "1" && count(t, "id = 3") == 0)
    withConf("my.value" -> "x; y") {
      sql(s"DELETE FROM $t WITH ('snapshot-property.n' = 'a\\tb $${my.value}') WHERE id = 4")
    }
    assert(summaryOf(t)("n") == "a\tb x; y")
    assert(count(t, "id = 4") == 0)
  }

  test("options for delete files take precedence over table properties", Slow) {
    val t = filled(2, "merge-on-read", "write.delete.granularity" -> "file", "write.delete.format.default" -> "avro")
    def added(statement: String): Seq[String] =
      withConf("spark.sql.iceberg.read.adaptive-split-size.enabled" -> "false") {
        val formatsBefore = deleteFormats(t)
        sql(statement)
        deleteFormats(t).diff(formatsBefore)
      }
    assert(added(s"DELETE FROM $t WHERE n = 1") == Seq("AVRO", "AVRO"))
    sql(s"CALL lite.system.rollback_to_snapshot('${t.stripPrefix("lite.")}', ${firstSnapshot(t)})")
    val options =
      "'delete-format' = 'orc', 'delete-granularity' = 'partition', 'target-delete-file-size-bytes' = '1000000'"
    assert(added(s"DELETE FROM $t WITH ($options) WHERE n = 1") == Seq("ORC"))
    assert(added(s"UPDATE $t WITH ('Delete-Format' = 'parquet') SET n = 77 WHERE n = 2").toSet == Set("PARQUET"))
    assert(count(t) == 900 && count(inApacheIceberg(t)) == 900 && count(inApacheIceberg(t), "n = 77") == 100)
    assert(rejection(s"DELETE FROM $t WITH ('delete-granularity' = 'table')").contains("delete-granularity"))
    assert(rejection(s"DELETE FROM $t WITH ('delete-format' = 'puffin')").contains("delete-format"))
  }

  test(
    "a position delete file that has reached target-delete-file-size-bytes gets no deletes of further data files",
    Slow
  ) {
    for ((size, files) <- Seq("1" -> 2, "1000000" -> 1)) {
      val t = filled(2, "merge-on-read", "write.delete.granularity" -> "partition")
      withConf("spark.sql.iceberg.read.adaptive-split-size.enabled" -> "false") {
        sql(s"DELETE FROM $t WITH ('target-delete-file-size-bytes' = '$size') WHERE n = 1")
      }
      assert(deleteFormats(t).size == files && count(t) == 900 && count(inApacheIceberg(t)) == 900)
    }
  }

  test("write.delete.target-file-size-bytes is the target size of delete files if the statement sets none", Slow) {
    for ((size, files) <- Seq("1" -> 2, "1000000" -> 1)) {
      val t = filled(
        2,
        "merge-on-read",
        "write.delete.granularity" -> "partition",
        "write.delete.target-file-size-bytes" -> size
      )
      withConf("spark.sql.iceberg.read.adaptive-split-size.enabled" -> "false")(sql(s"DELETE FROM $t WHERE n = 1"))
      assert(deleteFormats(t).size == files && count(t) == 900)
    }
  }

  test("an upsert writes its delete files according to the options") {
    val t = create("id BIGINT, n BIGINT", 2, "merge-on-read")
    sql(s"INSERT INTO $t SELECT id, id FROM range(0, 10, 1, 1)")
    spark.range(3).selectExpr("id", "id + 100 AS n").writeTo(t).option("upsert-keys", "id")
      .option("delete-format", "avro").append()
    assert(deleteFormats(t) == Seq("AVRO") && count(t) == 10 && count(inApacheIceberg(t), "n >= 100") == 3)
  }

  private def deleteFormats(t: String): Seq[String] =
    rows(s"SELECT file_format FROM ${inApacheIceberg(t)}.delete_files").map(_.getString(0)).sorted

  private def firstSnapshot(t: String): Long =
    rows(s"SELECT snapshot_id FROM $t.snapshots ORDER BY committed_at LIMIT 1").head.getLong(0)
}
