package iceberglite.spark.rowlevel

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.CommandResult
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.v2.V2TableWriteExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.streaming.MemoryStream
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.rules.ReportedWriteExec

/** Checks which statements shuffle the rows that they write, and how many tasks write the rows. */
class StatementTasksSuite extends AnyFunSuite with StatementFixture with AdaptiveSparkPlanHelper {
  private val upsert = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"

  /** Creates a table with six files in each of five partitions, or with thirty files if it is not partitioned. */
  private def table(mode: String, version: Int = 2, layout: String = "PARTITIONED BY (p)"): String = {
    val t = newTable()
    val modes = Seq("delete", "update", "merge").map(c => s"'write.$c.mode' = '$mode'").mkString(", ")
    sql(
      s"CREATE TABLE $t (id BIGINT, p INT, s STRING) USING iceberg $layout " +
        s"TBLPROPERTIES ('format-version' = '$version', $modes)"
    )
    spark.range(0, 3000, 1, if (layout.isEmpty) 30 else 6)
      .selectExpr("id", "CAST(id DIV 100 % 5 AS INT) AS p", s"concat(${sha("id")}, ${sha("-id")}) AS s")
      .writeTo(t).option("distribution-mode", "none").append()
    t
  }

  private def sha(id: String): String = s"sha2(CAST($id AS STRING), 512)"

  private def planOf(statement: String): SparkPlan = spark.sql(statement).queryExecution.commandExecuted match {
    case CommandResult(_, _, ReportedWriteExec(write: V2TableWriteExec), _) => write.query
    case other => fail(s"no write: $other")
  }

  private def shuffles(plan: SparkPlan): Int = collect(plan) { case s: ShuffleExchangeExec => s }.size

  private def addedFiles(t: String): Int = summaryOf(t)("added-data-files").toInt

  test("copy-on-write shuffles only rows that can move to other partitions", Slow) {
    val cases = Seq(
      "UPDATE %s SET s = 'x' WHERE id % 100 = 1" -> 0,
      "UPDATE %s SET p = 7 WHERE id % 100 = 2" -> 1,
      "DELETE FROM %s WHERE id % 100 = 3" -> 0,
      "MERGE INTO %s t USING (SELECT id * 100 + 4 AS id FROM range(30)) u ON t.id = u.id " +
        "WHEN MATCHED THEN UPDATE SET s = 'y'" -> 0,
      "MERGE INTO %s t USING (SELECT id * 100 + 5 AS id, CAST(id % 5 AS INT) AS p, 'z' AS s FROM range(30)) u " +
        "ON t.id = u.id AND t.p = u.p WHEN MATCHED THEN UPDATE SET *" -> 0,
      "MERGE INTO %s t USING (SELECT id * 100 + 5 AS id, CAST(id % 5 AS INT) AS p, 'z' AS s FROM range(30)) u " +
        "ON t.id = u.id WHEN MATCHED THEN UPDATE SET *" -> 1
    )
    for ((statement, expected) <- cases; version <- Seq(2, 3)) {
      val t = table("copy-on-write", version)
      val plan = planOf(statement.replace("%s", t))
      assert(shuffles(plan) == expected, s"$statement $plan")
      assert(addedFiles(t) <= 6, statement)
    }
  }

  test("a partition with most of the rows is written by several tasks", Slow) {
    for (mode <- Seq("copy-on-write", "merge-on-read")) {
      val t = table(mode)
      spark.range(10000, 30000, 1, 6).selectExpr("id", "99 AS p", s"concat(${sha("id")}, ${sha("-id")}) AS s")
        .writeTo(t).option("distribution-mode", "none").append()
      sql(s"UPDATE $t WITH ('advisory-partition-size' = '400000') SET s = reverse(s) WHERE id >= 0")
      val files = rows(s"SELECT count(*) FROM $t.files WHERE content = 0 AND partition.p = 99").head.getLong(0)
      assert(files >= 4, mode)
      assert(count(t) == 23000 && count(t, "p = 99") == 20000)
    }
  }

  test("merge-on-read shuffles no rows if a single task reads all rows") {
    val t = filled(2, "merge-on-read")
    val plan = planOf(s"UPDATE $t SET n = 0 WHERE id = 3")
    assert(shuffles(plan) == 0, plan)
    assert(shuffles(planOf(s"UPDATE $t SET n = 0 WHERE id IN (3, 700)")) == 1)
  }

  test("a distribution mode that is set in the statement, the session or the table properties is used", Slow) {
    val t = table("merge-on-read")
    assert(shuffles(planOf(s"UPDATE $t WITH ('distribution-mode' = 'none') SET s = 'a' WHERE id % 100 = 1")) == 0)
    withConf("spark.sql.iceberg.distribution-mode" -> "none") {
      assert(shuffles(planOf(s"DELETE FROM $t WHERE id % 100 = 2")) == 0)
    }
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.delete.distribution-mode' = 'none')")
    assert(shuffles(planOf(s"DELETE FROM $t WHERE id % 100 = 3")) == 0)
    assert(shuffles(planOf(s"DELETE FROM $t WITH ('distribution-mode' = 'hash') WHERE id % 100 = 4")) == 1)
    val copyOnWrite = table("copy-on-write")
    assert(shuffles(planOf(s"DELETE FROM $copyOnWrite WITH ('distribution-mode' = 'hash') WHERE id % 100 = 4")) == 1)
  }

  test("a MERGE in a streaming batch writes one file per partition", Slow) {
    for (mode <- Seq("copy-on-write", "merge-on-read"); version <- Seq(2, 3)) {
      val t = table(mode, version)
      withConf(SQLConf.SHUFFLE_PARTITIONS.key -> "20") {
        inSession(spark) { s =>
          import s.implicits._
          implicit val context = s.sqlContext
          val input = MemoryStream[Long]
          val query = input.toDS().toDF("id").writeStream.foreachBatch { (batch: DataFrame, _: Long) =>
            batch.selectExpr("id", "CAST(id DIV 100 % 5 AS INT) AS p", "'new' AS s").createOrReplaceTempView("batch")
            batch.sparkSession.sql(s"MERGE INTO $t t USING batch u ON t.id = u.id $upsert")
            ()
          }.option("checkpointLocation", newDirectory("checkpoint").toString).start()
          try {
            input.addData((0L until 6000L).filter(_ % 100 == 7))
            query.processAllAvailable()
          } finally query.stop()
        }
      }
      assert(count(t, "s = 'new'") == 60 && count(t) == 3030)
      assert(addedFiles(t) == 5, s"$mode $version")
    }
  }

  test("a MERGE on an unpartitioned table writes inserted rows to the same file as changed rows", Slow) {
    for (adaptive <- Seq("true", "false")) withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> adaptive) {
      val t = table("copy-on-write", layout = "")
      sql(s"MERGE INTO $t t USING (SELECT id, 1 AS p, 'x' AS s FROM range(2990, 3010)) u ON t.id = u.id $upsert")
      assert(addedFiles(t) == 1 && count(t, "s = 'x'") == 20 && count(t) == 3010)
    }
  }
}
