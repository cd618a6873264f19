package iceberglite.spark.rowlevel

import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.sql.catalyst.plans.logical.CommandResult
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.v2.{BatchScanExec, V2TableWriteExec}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.rules.ReportedWriteExec

/** Checks plans and rows of copy-on-write UPDATE statements with a subquery in the condition. */
class RewriteUpdateWithSubquerySuite extends AnyFunSuite with StatementFixture with AdaptiveSparkPlanHelper {

  private def filledTable(mode: String, version: Int): String = {
    val t = create("id BIGINT, n BIGINT, s STRUCT<a: INT, b: STRING>, c CHAR(3)", version, mode)
    sql(s"INSERT INTO $t SELECT id, IF(id % 7 = 0, NULL, id % 10), " +
      "named_struct('a', CAST(id % 5 AS INT), 'b', concat('b', id)), concat('c', id % 9) FROM range(0, 100, 1, 4)")
    t
  }

  private def subqueryTable(): String = {
    val t = create("id BIGINT, n BIGINT, c CHAR(3)", 2, "copy-on-write")
    sql(s"INSERT INTO $t SELECT id, IF(id = 3, NULL, id % 4), concat('c', id % 3) FROM range(0, 60, 3, 2)")
    t
  }

  /** Runs a statement, and returns the executed plan that produced the rows which the statement wrote. */
  private def planOf(statement: String): SparkPlan = spark.sql(statement).queryExecution.commandExecuted match {
    case CommandResult(_, _, ReportedWriteExec(write: V2TableWriteExec), _) => write.query
    case other => fail(s"no write: $other")
  }

  /** Returns the number of scans of the table in the plan. */
  private def reads(plan: SparkPlan, t: String): Int =
    collect(plan) { case scan: BatchScanExec if scan.table.name.endsWith(t.split('.').last) => scan }.size

  private def rowsOf(t: String): Seq[String] = rows(s"SELECT * FROM $t").map(_.toString).sorted

  /** The SET and WHERE clauses of UPDATE statements on a table `t`, with subqueries on a table `u`. */
  private val statements = Seq(
    "n = -1 WHERE id IN (SELECT id FROM u)",
    "n = -1 WHERE id NOT IN (SELECT id FROM u)",
    "n = -1 WHERE n NOT IN (SELECT n FROM u)",
    "n = -1 WHERE n NOT IN (SELECT n FROM u WHERE n IS NOT NULL)",
    "n = id, id = n WHERE n > (SELECT min(n) FROM u)",
    "n = (SELECT max(u.n) FROM u WHERE u.id = t.id) WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id AND u.n > 1)",
    "s.a = 100, c = 'x' WHERE NOT EXISTS (SELECT * FROM u WHERE u.id > t.id)",
    "s.b = NULL WHERE n = (SELECT count(*) FROM u WHERE u.n = t.s.a) OR id IN (SELECT n FROM u) AND id < 50",
    "n = n + 1 WHERE id IN (SELECT id + 1 FROM t) AND NOT n IN (SELECT max(n) FROM t)",
    "n = 0 WHERE c IN (SELECT c FROM u)",
    "n = 0 WHERE (id IN (SELECT id FROM u)) IS NULL OR id % 2 = 0",
    "n = 0 WHERE _pos IN (SELECT n FROM u)",
    "n = _pos WHERE EXISTS (SELECT * FROM u WHERE u.id = t._pos AND u._pos < 3)",
    "n = 0 WHERE id IN (SELECT id FROM u WHERE false)",
    "n = n WHERE id IN (SELECT id FROM u)"
  )

  for (version <- Seq(1, 2, 3)) test(s"copy-on-write changes the same rows as merge-on-read, version $version", Slow) {
    val u = subqueryTable()
    for (statement <- statements) {
      val copied = filledTable("copy-on-write", version)
      val merged = filledTable("merge-on-read", math.max(2, version))
      for (t <- Seq(copied, merged)) {
        val body = statement.replace("FROM t)", s"FROM $t)").replace("FROM u", s"FROM $u u")
        sql(s"UPDATE $t t SET $body")
      }
      assert(rowsOf(copied) == rowsOf(merged), statement)
    }
  }

  test("an UPDATE reads the rows once, keeps their row ids and counts the updated rows") {
    val u = subqueryTable()
    val t = filledTable("copy-on-write", 3)
    def ids = rows(s"SELECT id, _row_id FROM $t ORDER BY id").map(_.toString)
    val idsBefore = ids
    val plan = planOf(s"UPDATE $t SET n = -1 WHERE id IN (SELECT id FROM $u)")
    assert(reads(plan, t) == 1 && reads(plan, u) == 1, plan.treeString)
    assert(ids == idsBefore && count(t, "n = -1") == 20)
    val summary = live(t).currentSnapshot.get.summary
    assert(summary("spark.update.num-updated-rows") == "20" && summary("spark.update.num-copied-rows") == "55")
    assert(count(t, "_last_updated_sequence_number = 2") == 20)
  }

  test(
    "an UPDATE neither loses nor duplicates rows if the table of its subquery returns other rows when read again",
    Slow
  ) {
    val sourceReads = new AtomicInteger
    val answers = Seq(Seq(Some(1L), None), Seq(Some(1L)), Seq(Some(2L), Some(3L)))
    ChangingSource.rows = () => answers(math.min(sourceReads.getAndIncrement(), answers.size - 1))
    spark.read.format(classOf[ChangingSource].getName).load().createOrReplaceTempView("changing")
    for (condition <- Seq("NOT IN (SELECT id FROM changing)", "IN (SELECT id FROM changing)")) {
      val t = filledTable("copy-on-write", 2)
      sourceReads.set(0)
      sql(s"UPDATE $t SET n = -1 WHERE id $condition")
      assert(sourceReads.get == 1 && count(t) == 100 && rows(s"SELECT DISTINCT id FROM $t").size == 100, condition)
    }
  }

  test("assigned values are checked as in an UPDATE without a subquery, and only in updated rows", Slow) {
    val u = subqueryTable()
    val t = create("id BIGINT NOT NULL, n INT", 2, "copy-on-write")
    sql(s"INSERT INTO $t SELECT id, CAST(id AS INT) FROM range(100)")
    val large = "10000000000"
    sql(
      s"UPDATE $t SET n = IF(id > 3, $large, 1), id = IF(id > 3, NULL, id) WHERE id IN (SELECT id FROM $u WHERE id < 4)"
    )
    assert(rows(s"SELECT id, n FROM $t WHERE n <> id").map(_.toString).sorted == Seq("[0,1]", "[3,1]"))
    val overflow = intercept[Exception](sql(s"UPDATE $t SET n = id * $large WHERE id IN (SELECT id FROM $u)"))
    assert(messages(overflow).contains("CAST_OVERFLOW"), messages(overflow))
    val missing = intercept[Exception](sql(s"UPDATE $t SET id = NULLIF(id, 3) WHERE id IN (SELECT id FROM $u)"))
    assert(messages(missing).contains("is NOT NULL"), messages(missing))
  }

  test("a condition that is not boolean is rejected with Spark's error") {
    val error = intercept[Exception](
      sql(s"UPDATE ${filledTable("copy-on-write", 2)} SET n = 1 WHERE (SELECT max(id) FROM ${subqueryTable()})")
    )
    assert(messages(error).contains("FILTER_NOT_BOOLEAN"), messages(error))
  }
}
