package iceberglite.spark.rowlevel

import scala.util.Random

import org.apache.spark.sql.catalyst.plans.logical.CommandResult
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.v2.{BatchScanExec, V2TableWriteExec}
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{Fuzz, InEveryRun}
import iceberglite.table.action.FastAppend
import iceberglite.tree.TreeReader
import iceberglite.spark.rules.ReportedWriteExec

/**
 * Tests which files a MERGE reads and rewrites: constants in its `ON` condition and the conditions of WHEN NOT MATCHED
 * BY SOURCE clauses skip files.
 */
class MergeFilesSuite extends AnyFunSuite with StatementFixture with AdaptiveSparkPlanHelper {
  private val Files = 8

  /** Creates a table whose file `i` has the ids from `100 * i`, and the value `i` in the column `p`. */
  private def table(mode: String, layout: String = "", version: Int = 2): String = {
    val t = newTable()
    sql(
      s"CREATE TABLE $t (id BIGINT, p INT, n BIGINT) USING iceberg $layout " +
        s"TBLPROPERTIES ('write.merge.mode' = '$mode', 'format-version' = '$version')"
    )
    spark.range(0, 100L * Files, 1, Files).selectExpr("id", "CAST(id DIV 100 AS INT) AS p", "0L AS n").writeTo(t)
      .option("use-table-distribution-and-ordering", "false").option("fanout-enabled", "true").append()
    assert(files(t).size == Files)
    t
  }

  private def files(t: String): Set[String] = rows(s"SELECT file_path FROM $t.data_files").map(_.getString(0)).toSet

  private def planOf(statement: String): SparkPlan = spark.sql(statement).queryExecution.commandExecuted match {
    case CommandResult(_, _, ReportedWriteExec(write: V2TableWriteExec), _) => write.query
    case other => fail(s"no write: $other")
  }

  /** Returns the number of files that each scan of a table reads, with those of the search for files. */
  private def readFiles(plan: SparkPlan): Seq[Long] =
    collectWithSubqueries(plan) { case s: BatchScanExec => s.metrics("resultDataFiles").value }

  /** Runs a MERGE. @return the numbers of files that its scans read, and the numbers of the files that it replaced */
  private def merge(t: String, source: String, on: String, clauses: String): (Seq[Long], Set[Int]) = {
    val byPath = rows(s"SELECT DISTINCT _file, p FROM $t").map(r => r.getString(0) -> r.getInt(1)).toMap
    val read = readFiles(planOf(s"MERGE INTO $t t USING $source u ON $on $clauses"))
    (read, (byPath.keySet -- files(t)).map(byPath))
  }

  private val keys = "(SELECT * FROM VALUES (205L, 1L), (207L, 2L), (900L, 3L) AS v(id, n))"
  private val upsert = "WHEN MATCHED THEN UPDATE SET n = u.n WHEN NOT MATCHED THEN INSERT (id, n) VALUES (u.id, u.n)"

  for (mode <- Seq("copy-on-write", "merge-on-read"); layout <- Seq("", "PARTITIONED BY (p)"))
    test(
      s"constant conditions in ON skip files ($mode $layout)",
      Slow
    ) {
      // The range of the source's ids excludes no file.
      val source = "(SELECT * FROM VALUES (5L, 1L), (305L, 2L), (795L, 3L), (900L, 4L) AS v(id, n))"
      val on = "t.id = u.id AND t.p = 3"
      val threshold = if (layout.isEmpty) "10MB" else "-1"
      withConf(SQLConf.AUTO_BROADCASTJOIN_THRESHOLD.key -> threshold) {
        val t = table(mode, layout)
        val (read, replaced) = merge(t, source, on, upsert)
        assert(read.nonEmpty && read.forall(_ == 1), read)
        assert(replaced == (if (mode == "copy-on-write") Set(3) else Set.empty))
        assert(sorted(s"SELECT id, n FROM $t WHERE n > 0") == Seq("[305,2]", "[5,1]", "[795,3]", "[900,4]"))
        val rest = table(mode, layout)
        val (filtered, _) = merge(rest, source, s"$on AND t.n < 1", "WHEN MATCHED THEN DELETE")
        assert(filtered.forall(_ == 1) && rows(s"SELECT * FROM $rest").size == 100 * Files - 1, filtered)
      }
    }

  test("copy-on-write rewrites only files with a match or a row for WHEN NOT MATCHED BY SOURCE", Slow) {
    for ((version, threshold, layout) <- Seq((2, "10MB", ""), (3, "-1", "PARTITIONED BY (p)")))
      withConf(SQLConf.AUTO_BROADCASTJOIN_THRESHOLD.key -> threshold) {
        val t = table("copy-on-write", layout, version)
        val (read, replaced) = merge(
          t,
          keys,
          "t.id = u.id",
          s"$upsert WHEN NOT MATCHED BY SOURCE AND t.id = 505 THEN DELETE " +
            "WHEN NOT MATCHED BY SOURCE AND t.id BETWEEN 710 AND 711 THEN UPDATE SET n = -1"
        )
        assert(replaced == Set(2, 5, 7))
        // Bounds exclude the other files, except from the search for matches if the source is not broadcast.
        assert(read.max <= (if (threshold == "-1") Files else 3), read)
        assert(sorted(s"SELECT id, n FROM $t WHERE n <> 0") ==
          Seq("[205,1]", "[207,2]", "[710,-1]", "[711,-1]", "[900,3]"))
        assert(rows(s"SELECT * FROM $t").size == 100 * Files && rows(s"SELECT * FROM $t WHERE id = 505").isEmpty)
        assert(sorted(s"SELECT * FROM $t") == sorted(s"SELECT * FROM ${inApacheIceberg(t)}"))
      }
  }

  test(
    "a condition of the table in ON and in WHEN NOT MATCHED BY SOURCE excludes the other files from all scans",
    Slow
  ) {
    for ((layout, threshold) <- Seq("" -> "-1", "PARTITIONED BY (p)" -> "10MB"))
      withConf(SQLConf.AUTO_BROADCASTJOIN_THRESHOLD.key -> threshold) {
        val t = table("copy-on-write", layout)
        val clauses = s"$upsert WHEN NOT MATCHED BY SOURCE AND t.p = 2 AND t.id >= 250 THEN DELETE"
        val (read, replaced) = merge(t, keys, "t.id = u.id AND t.p = 2", clauses)
        assert(replaced == Set(2) && read.filter(_ > 0).forall(_ == 1), read)
        assert(rows(s"SELECT * FROM $t").size == 100 * Files - 50 + 1)
      }
  }

  test("a MERGE that replaces the rows of a condition (ON false) rewrites only files with such a row", Slow) {
    for (on <- Seq("false", "1 = 2", "CAST(NULL AS BOOLEAN)")) {
      val t = table("copy-on-write")
      val clauses = "WHEN NOT MATCHED THEN INSERT (id, n) VALUES (u.id, u.n) " +
        "WHEN NOT MATCHED BY SOURCE AND t.id IN (102, 103) THEN DELETE"
      val (_, replaced) = merge(t, keys, on, clauses)
      assert(replaced == Set(1), on)
      assert(rows(s"SELECT * FROM $t").size == 100 * Files + 1, on)
      assert(sorted(s"SELECT id FROM $t WHERE n > 0 OR id IN (102, 103)") == Seq("[205]", "[207]", "[900]"), on)
    }
  }

  test("with an empty source, only files with a row for WHEN NOT MATCHED BY SOURCE are rewritten", Slow) {
    val sources = Seq(
      s"(SELECT * FROM $keys v WHERE false)",
      s"(SELECT * FROM $keys v WHERE id < 0)",
      "(SELECT id, id AS n FROM range(205, 300) WHERE id < 0)"
    )
    for (source <- sources) {
      val t = table("copy-on-write")
      def clauses(condition: String) = s"$upsert WHEN NOT MATCHED BY SOURCE AND $condition THEN DELETE"
      assert(merge(t, source, "t.id = u.id", clauses("t.n = 0 AND t.p > 5"))._2 == Set(6, 7))
      assert(rows(s"SELECT * FROM $t").size == 600)
      val unchanged = table("copy-on-write")
      assert(merge(unchanged, source, "t.id = u.id", clauses("t.n > 0"))._2.isEmpty)
      assert(rows(s"SELECT * FROM $unchanged").size == 100 * Files)
    }
  }

  test(
    "without a condition in WHEN NOT MATCHED BY SOURCE, or with a source that may change, all files are rewritten",
    Slow
  ) {
    val t = table("copy-on-write")
    val all = (0 until Files).toSet
    val unconditional =
      "WHEN NOT MATCHED BY SOURCE AND t.p = 1 THEN DELETE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = 7"
    assert(merge(t, keys, "t.id = u.id", unconditional)._2 == all)
    assert(rows(s"SELECT count(*), count_if(n = 7) FROM $t").map(_.toSeq) == Seq(Seq(700L, 698L)))
    val limited = table("copy-on-write")
    val source = "(SELECT id, id AS n FROM range(205, 300) LIMIT 2)"
    val clauses = s"$upsert WHEN NOT MATCHED BY SOURCE AND t.p = 1 THEN DELETE"
    assert(merge(limited, source, "t.id = u.id", clauses)._2 == all)
    assert(rows(s"SELECT count(*), count_if(p = 1), count_if(n > 0) FROM $limited").map(_.toSeq) ==
      Seq(Seq(700L, 0L, 2L)))
  }

  test(
    "the condition of WHEN NOT MATCHED BY SOURCE is not evaluated on rows with a match, on which it may fail",
    Slow
  ) {
    val t = table("copy-on-write")
    sql(s"UPDATE $t SET n = 1 WHERE NOT id IN (205, 207)")
    withConf("spark.sql.ansi.enabled" -> "true") {
      val clauses = "WHEN MATCHED THEN UPDATE SET n = u.n WHEN NOT MATCHED BY SOURCE AND 100 / t.n > 200 THEN DELETE"
      merge(t, keys, "t.id = u.id", clauses)
    }
    assert(rows(s"SELECT id, n FROM $t WHERE n != 1 OR id = 205").map(r => r.getLong(0) -> r.getLong(1)).toSet ==
      Set(205L -> 1L, 207L -> 2L))
  }

  test("conditions on metadata columns find the files to rewrite") {
    val t = table("copy-on-write")
    val file = rows(s"SELECT DISTINCT _file FROM $t WHERE p = 4").head.getString(0)
    val clauses = "WHEN MATCHED THEN UPDATE SET n = u.n " +
      s"WHEN NOT MATCHED BY SOURCE AND t._file = '$file' AND t._pos < 10 THEN DELETE"
    assert(merge(t, keys, "t.id = u.id", clauses)._2 == Set(2, 4))
    assert(rows(s"SELECT * FROM $t").size == 100 * Files - 10)
  }

  test("a concurrent commit conflicts only if it may add a row for one of the clauses", Slow) {
    for ((id, conflicts) <- Seq(350L -> false, 450L -> true, 550L -> true)) {
      val t = table("copy-on-write")
      val other = newTable()
      sql(s"CREATE TABLE $other (id BIGINT, p INT, n BIGINT) USING iceberg")
      sql(s"INSERT INTO $other VALUES ($id, ${id / 100}, 5)")
      val added = live(other)
      val files = new TreeReader(added.io, added.metadata).live(added.currentSnapshot.get).map(_.file).toVector
      val commits = commitWhenCalled(t) { table =>
        table.transaction().add(new FastAppend(files)).commit()
        ()
      }
      def run(): Unit = {
        sql(
          s"MERGE INTO $t t USING (SELECT id, commit_and_return(id) AS n FROM range(400, 410)) u " +
            "ON t.id = u.id AND t.p = 4 WHEN MATCHED THEN UPDATE SET n = u.n " +
            "WHEN NOT MATCHED BY SOURCE AND t.p = 5 THEN DELETE"
        )
        ()
      }
      if (!conflicts) run()
      else assert(messages(intercept[Exception](run())).contains("isolation level serializable"), id)
      assert(commits() == 1)
      assert(rows(s"SELECT * FROM $t").size == (if (conflicts) 801 else 701), id)
    }
  }

  private val conditions = Seq(
    "t.n IS NULL",
    "t.n % 3 = 0",
    "t.id > 150",
    "t.id BETWEEN 40 AND 90",
    "t.p = 'a'",
    "t.p <=> NULL",
    "NOT (t.p = 'b')",
    "t.n > t.id",
    "false",
    "t.id IN (1, 7, 99, 181)",
    "coalesce(t.n, 0) = 0 AND t.p = 'c'"
  )

  private val joinConditions = Seq(
    "t.id = u.id",
    "t.id <=> u.id",
    "t.id = u.id AND t.p = u.p",
    "t.id = u.id AND t.p = 'b'",
    "t.id = u.id AND t.n > 20 AND u.n < 150",
    "t.id = u.id AND t.id < 100",
    "false",
    "t.n = u.id AND t.p IS NOT NULL"
  )

  /** Generates statements for a table with the columns `id BIGINT, p STRING, n BIGINT`. */
  final private class RandomMerges(random: Random) {
    private def pick(choices: String*): String = choices(random.nextInt(choices.size))

    /** Returns a source without duplicate ids. */
    private def source: String = {
      val (from, until) = (random.nextInt(180), 60 + random.nextInt(200))
      s"(SELECT IF(id = $from, NULL, id) AS id, elt(CAST(id % 4 AS INT), 'a', 'b', 'c') AS p, " +
        s"id + ${random.nextInt(5)} AS n FROM range($from, ${math.max(from + 1, until)}, ${1 + random.nextInt(9)}))"
    }

    private def unmatched: String = (0 to random.nextInt(2)).map { _ =>
      val action = pick("DELETE", "UPDATE SET n = 1000", "UPDATE SET p = 'z'")
      s"WHEN NOT MATCHED BY SOURCE AND ${pick(conditions: _*)} THEN $action"
    }.mkString(" ")

    def next(): String = {
      val matched = pick(
        "",
        "WHEN MATCHED THEN DELETE",
        "WHEN MATCHED THEN UPDATE SET n = u.n",
        "WHEN MATCHED AND u.n % 2 = 0 THEN UPDATE SET n = -u.n, p = u.p WHEN MATCHED AND t.p = 'a' THEN DELETE"
      )
      val missing = pick("", "WHEN NOT MATCHED THEN INSERT *", "WHEN NOT MATCHED AND u.n > 50 THEN INSERT *")
      s"MERGE INTO %s t USING $source u ON ${pick(joinConditions: _*)} $matched $missing $unmatched"
    }

    def settings: Seq[(String, String)] = Seq(
      SQLConf.AUTO_BROADCASTJOIN_THRESHOLD.key -> pick("10MB", "-1"),
      SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> pick("true", "false")
    )
  }

  /** Runs a statement. @return the rows afterwards, or the name of the error for several matches of a row */
  private def outcome(t: String, statement: String): Seq[String] =
    try {
      sql(statement.replace("%s", t))
      sorted(s"SELECT * FROM $t")
    } catch {
      case e: Exception if messages(e).contains("MERGE_CARDINALITY_VIOLATION") => Seq("MERGE_CARDINALITY_VIOLATION")
    }

  private def fill(t: String, layout: String, version: Int): Unit = {
    sql(s"CREATE TABLE $t (id BIGINT, p STRING, n BIGINT) USING iceberg $layout TBLPROPERTIES " +
      s"('format-version' = '$version', 'write.merge.mode' = 'copy-on-write')")
    (0 until 4).foreach { i =>
      sql(s"INSERT INTO $t SELECT IF(id % 41 = 3, NULL, id), elt(CAST(id % 4 AS INT), 'a', 'b', 'c'), " +
        s"IF(id % 13 = 5, NULL, id % ${30 + i}) FROM range(${i * 50}, ${i * 50 + 50}, 1, 1)")
    }
  }

  test(
    "random statements with WHEN NOT MATCHED BY SOURCE have the results of Spark with Apache Iceberg",
    Slow,
    InEveryRun
  ) {
    for (round <- 0 until Fuzz.slowRounds(4)) {
      val random = new Random(Fuzz.seed + round)
      val layout = Seq("", "PARTITIONED BY (p)", "PARTITIONED BY (truncate(50, id))")(random.nextInt(3))
      val (t, oracle) = (newTable(), inApacheIceberg(newTable("oracle")))
      fill(t, layout, 2 + random.nextInt(2))
      fill(oracle, layout, 2)
      val merges = new RandomMerges(random)
      for (step <- 0 until 5) withConf(merges.settings: _*) {
        val statement = merges.next()
        // No row has several matches, for which the two connectors differ without WHEN MATCHED.
        assert(outcome(t, statement) == outcome(oracle, statement), s"round $round, step $step: $statement")
      }
    }
  }
}
