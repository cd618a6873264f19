package iceberglite.spark.rowlevel

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.LeftSemi
import org.apache.spark.sql.catalyst.plans.logical.CommandResult
import org.apache.spark.sql.execution.{SortExec, SparkPlan}
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, AdaptiveSparkPlanHelper, QueryStageExec}
import org.apache.spark.sql.execution.datasources.v2.{BatchScanExec, V2TableWriteExec}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, SortMergeJoinExec}
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.spark.SharedSession
import iceberglite.spark.rules.ReportedWriteExec
import iceberglite.spark.write.WriteFixture

/** Checks plans and rows of MERGE statements whose source is small enough for a broadcast. */
class RewriteMergeJoinSuite extends AnyFunSuite with WriteFixture with AdaptiveSparkPlanHelper {
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  private def filledTable(mode: String, version: Int = 2, partitioning: String = ""): String = {
    val t = newTable()
    sql(
      s"CREATE TABLE $t (id BIGINT, p INT, n STRING) USING iceberg $partitioning " +
        s"TBLPROPERTIES ('write.merge.mode' = '$mode', 'format-version' = '$version')"
    )
    sql(s"INSERT INTO $t SELECT id, CAST(id % 5 AS INT), concat('n', id) FROM range(0, 2000, 1, 4)")
    sql(s"INSERT INTO $t VALUES (NULL, 1, 'null'), (-1, NULL, NULL)")
    t
  }

  /** The source of the MERGE statements. One of its ids is null. */
  private val source = "(SELECT IF(id = 1909, NULL, id) AS id, CAST(7 AS INT) AS p, concat('u', id) AS n " +
    "FROM range(1900, 2100, 3, 2)) u"

  /** Returns the executed write of a statement. */
  private def writeOf(statement: String): V2TableWriteExec =
    spark.sql(statement).queryExecution.commandExecuted match {
      case CommandResult(_, _, ReportedWriteExec(write: V2TableWriteExec), _) => write
      case other => fail(s"no write: $other")
    }

  private def planOf(statement: String): SparkPlan = writeOf(statement).query

  private def joins(plan: SparkPlan): (Int, Int) = (
    collect(plan) { case j: BroadcastHashJoinExec => j }.size,
    collect(plan) { case j: SortMergeJoinExec => j }.size
  )

  /** Returns whether the plan contains a table scan whose rows are not filtered by a broadcast semi join. */
  private def hasUnfilteredScan(plan: SparkPlan): Boolean = plan match {
    case _: BatchScanExec => true
    case join: BroadcastHashJoinExec if join.joinType == LeftSemi => false
    case adaptive: AdaptiveSparkPlanExec => hasUnfilteredScan(adaptive.executedPlan)
    case stage: QueryStageExec => hasUnfilteredScan(stage.plan)
    case other => other.children.exists(hasUnfilteredScan)
  }

  /** Returns the sorts and shuffles of rows from a table scan that no broadcast semi join filters. */
  private def sortsAndShuffles(plan: SparkPlan): Seq[SparkPlan] =
    collect(plan) { case node @ (_: SortExec | _: ShuffleExchangeLike) if hasUnfilteredScan(node) => node }

  private def rowsOf(t: String): Seq[String] = rows(s"SELECT * FROM $t").map(_.toString).sorted

  private val upsert = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"

  private val clauses = Seq(
    upsert,
    "WHEN MATCHED AND u.id % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET n = u.n WHEN NOT MATCHED THEN INSERT *",
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED AND u.id IS NOT NULL THEN INSERT (id, p) VALUES (u.id, 0) " +
      "WHEN NOT MATCHED BY SOURCE AND t.id < 10 THEN DELETE WHEN NOT MATCHED BY SOURCE AND t.p = 3 THEN " +
      "UPDATE SET p = 33",
    "WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE THEN DELETE",
    "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *",
    "WHEN MATCHED THEN UPDATE SET p = t.p + u.p"
  )

  test(
    "if several source rows match a target row without clauses, copy-on-write fails, and merge-on-read keeps the row",
    Slow
  ) {
    for ((mode, threshold) <- Seq("copy-on-write" -> "10MB", "copy-on-write" -> "-1", "merge-on-read" -> "10MB")) {
      val t = filledTable(mode)
      val doubled = "(SELECT id DIV 2 AS id FROM range(20)) u"
      val rowsBefore = rowsOf(t)
      withConf(SQLConf.AUTO_BROADCASTJOIN_THRESHOLD.key -> threshold) {
        def merge() =
          sql(s"MERGE INTO $t t USING $doubled ON t.id = u.id WHEN NOT MATCHED BY SOURCE AND t.id = 1000 THEN DELETE")
        if (mode == "copy-on-write")
          assert(messages(intercept[Exception](merge())).contains("MERGE_CARDINALITY_VIOLATION"))
        else merge()
      }
      assert(rowsOf(t) == (if (mode == "copy-on-write") rowsBefore else rowsBefore.filterNot(_.startsWith("[1000,"))))
    }
  }

  for (mode <- Seq("copy-on-write", "merge-on-read")) {
    test(s"a MERGE with a broadcast gives the same rows as a MERGE without a broadcast ($mode)", Slow) {
      val conditions = Seq("t.id = u.id", "t.id = u.id AND t.p < 4 AND u.p = 7", "t.id <=> u.id AND t.n <> u.n")
      for ((clause, i) <- clauses.zipWithIndex) {
        val condition = conditions(i % conditions.size)
        val outcomes = Seq("10MB" -> "true", "10MB" -> "false", "-1" -> "true").map { case (threshold, adaptive) =>
          val t = filledTable(mode, partitioning = "PARTITIONED BY (p)")
          withConf(
            SQLConf.AUTO_BROADCASTJOIN_THRESHOLD.key -> threshold,
            SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> adaptive
          ) {
            sql(s"MERGE INTO $t t USING $source ON $condition $clause")
          }
          (rowsOf(t), rowsOf(inApacheIceberg(t)))
        }
        assert(outcomes.tail.forall(_ == outcomes.head), s"$condition $clause")
        assert(outcomes.head._1 == outcomes.head._2)
      }
    }

    test(
      s"a MERGE is rejected if a target row has several matching source rows ($mode)",
      Sampling.slowUnless(mode == "merge-on-read"): _*
    ) {
      val t = filledTable(mode)
      val error = intercept[Exception](
        sql(s"MERGE INTO $t t USING (SELECT id DIV 2 AS id, 1 AS p, 'x' AS n FROM range(10)) u ON t.id = u.id $upsert")
      )
      assert(messages(error).contains("MERGE_CARDINALITY_VIOLATION"), messages(error))
    }

    test(
      s"the source of a MERGE can be the target table itself ($mode)",
      Sampling.slowUnless(mode == "merge-on-read"): _*
    ) {
      val t = filledTable(mode, version = 3)
      sql(
        s"MERGE INTO $t t USING (SELECT id + 1000 AS id, p, 'again' AS n FROM $t WHERE p = 2) u ON t.id = u.id $upsert"
      )
      assert(rows(s"SELECT count(*), count_if(n = 'again') FROM $t").head.toSeq == Seq(2202L, 400L))
    }
  }

  test(
    "without adaptive execution, as in a streaming batch, a MERGE does not write a file per shuffle partition",
    Slow
  ) {
    for (mode <- Seq("copy-on-write", "merge-on-read")) {
      val t = filledTable(mode)
      withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> "false", SQLConf.SHUFFLE_PARTITIONS.key -> "50") {
        sql(s"MERGE INTO $t t USING $source ON t.id = u.id $upsert")
      }
      // Two tasks that read the table and two tasks that read the source write one file each.
      assert(summaryOf(t)("added-data-files").toInt <= 4, mode)
    }
  }

  test("a MERGE with a cached and sorted source uses a broadcast join", Slow) {
    for (mode <- Seq("copy-on-write", "merge-on-read")) {
      val t = filledTable(mode)
      val cached = sql(s"SELECT * FROM $source ORDER BY id").cache()
      try {
        cached.count()
        cached.createOrReplaceTempView("cached_source")
        val plan = planOf(s"MERGE INTO $t t USING cached_source u ON t.id = u.id $upsert")
        assert(joins(plan)._1 >= 1, plan.treeString)
        assert(rows(s"SELECT count(*) FROM $t WHERE n LIKE 'u%'").head.getLong(0) == 67)
      } finally cached.unpersist()
    }
  }

  test("copy-on-write writes the target's rows in the tasks that read the rows, without a shuffle") {
    val t = filledTable("copy-on-write")
    val plan = planOf(s"MERGE INTO $t t USING $source ON t.id = u.id $upsert")
    val (broadcast, sorted) = joins(plan)
    assert(broadcast >= 2 && sorted == 0 && sortsAndShuffles(plan).isEmpty, plan.treeString)
    assert(rows(s"SELECT count(*) FROM $t.files").head.getLong(0) <= 6, "the MERGE wrote too many files")
  }

  test("the metrics of a MERGE count inserted, updated and copied rows", Slow) {
    for ((mode, copied) <- Seq("copy-on-write" -> true, "merge-on-read" -> false)) {
      val t = filledTable(mode)
      val write = writeOf(s"MERGE INTO $t t USING $source ON t.id = u.id $upsert")
      def metric(name: String) = write.metrics(name).value
      assert((metric("insertedRows"), metric("updatedRows")) == ((34L, 33L)))
      if (copied) assert(metric("copiedRows") + 33 + 34 == metric("addedRecords"))
      else assert(metric("deletedRows") == 0 && metric("addedRecords") == 67)
    }
  }

  test("merge-on-read sorts only target rows that match", Slow) {
    val t = filledTable("merge-on-read")
    // The source is small enough for a broadcast, and the target is not.
    withConf(SQLConf.AUTO_BROADCASTJOIN_THRESHOLD.key -> "20KB") {
      val plan = planOf(s"MERGE INTO $t t USING $source ON t.id = u.id $upsert")
      val semiJoins = collect(plan) { case j: BroadcastHashJoinExec if j.joinType == LeftSemi => j }
      assert(semiJoins.map(_.metrics("numOutputRows").value) == Seq(33L), plan.treeString)
      assert(collect(plan) { case s: SortExec => s }.nonEmpty && sortsAndShuffles(plan).isEmpty, plan.treeString)
    }
    withConf(SQLConf.AUTO_BROADCASTJOIN_THRESHOLD.key -> "-1") {
      val plan = planOf(s"MERGE INTO $t t USING $source ON t.id = u.id $upsert")
      assert(sortsAndShuffles(plan).nonEmpty, plan.treeString)
    }
  }

  test("an insert-only MERGE searches for the source's keys without shuffling the target's rows", Slow) {
    val t = filledTable("copy-on-write")
    (0 until 4).foreach(i => sql(s"INSERT INTO $t SELECT id, 1, 'x' FROM range(${i}000000, ${i}000100)"))
    val clauses = Seq(
      "WHEN NOT MATCHED THEN INSERT *",
      "WHEN NOT MATCHED AND u.id % 2 = 0 THEN INSERT (id, p) VALUES (u.id + 10000, 8) WHEN NOT MATCHED THEN INSERT *"
    )
    for (clause <- clauses) {
      val keys = "(SELECT * FROM VALUES (2000007L, 1, 'a'), (2000107L, 1, 'b'), (2000200L, 1, 'c'), (NULL, 1, 'd') " +
        "AS v(id, p, n)) u"
      val plan = planOf(s"MERGE INTO $t t USING $keys ON t.id = u.id $clause")
      assert(collect(plan) { case j: BroadcastHashJoinExec if j.joinType == LeftSemi => j }.nonEmpty, plan.treeString)
      assert(sortsAndShuffles(plan).isEmpty, plan.treeString)
      assert(collect(plan) { case s: BatchScanExec => s.metrics("resultDataFiles").value }.max < 8, plan.treeString)
    }
    val inserted = rows(s"SELECT id FROM $t WHERE n IN ('a', 'b', 'c', 'd') OR p = 8 ORDER BY id NULLS LAST")
    assert(inserted.map(_.get(0)) == Seq(2000107L, 2000200L, null, null))
    assert(rowsOf(t) == rowsOf(inApacheIceberg(t)))
  }

  for (mode <- Seq("copy-on-write", "merge-on-read"))
    test(
      s"files that cannot contain a key of the source are not read ($mode)",
      Sampling.slowUnless(mode == "merge-on-read"): _*
    ) {
      val t = newTable()
      sql(s"CREATE TABLE $t (id BIGINT, n BIGINT) USING iceberg TBLPROPERTIES ('write.merge.mode' = '$mode')")
      (0 until 4).foreach(i =>
        sql(s"INSERT INTO $t SELECT /*+ COALESCE(1) */ id, id FROM range(${i * 100}, ${i * 100 + 100})")
      )
      val plan = planOf(
        s"MERGE INTO $t t USING (SELECT * FROM VALUES (205L, 0L), (207L, 0L), (900L, 0L) AS v(id, n)) u " +
          s"ON t.id = u.id $upsert"
      )
      val scans = collectWithSubqueries(plan) { case s: BatchScanExec => s }
      assert(scans.nonEmpty && scans.forall(_.metrics("resultDataFiles").value == 1), plan.treeString)
      assert(rows(s"SELECT id FROM $t WHERE n = 0 ORDER BY id").map(_.getLong(0)) == Seq(0L, 205L, 207L, 900L))
    }

  test("no semi join or runtime filter is added that would read a nondeterministic source a second time", Slow) {
    val t = filledTable("merge-on-read")
    for (
      source <- Seq("SELECT id, 1 AS p, 'x' AS n FROM range(100) LIMIT 10", "SELECT * FROM t TABLESAMPLE (50 PERCENT)")
    ) {
      sql("SELECT id, 1 AS p, 'x' AS n FROM range(100)").createOrReplaceTempView("t")
      val plan = planOf(s"MERGE INTO $t t USING ($source) u ON t.id = u.id $upsert")
      assert(collect(plan) { case j: BroadcastHashJoinExec if j.joinType == LeftSemi => j }.isEmpty, plan.treeString)
      val copied = filledTable("copy-on-write")
      def filters(using: String) =
        planOf(s"MERGE INTO $copied t USING ($using) u ON t.id = u.id $upsert").treeString.contains("dynamicpruning")
      assert(!filters(source) && filters("SELECT id, 1 AS p, 'x' AS n FROM range(10)"))
    }
  }

  test("a MERGE inserts no row twice, although its source returns other rows if the source is read again", Slow) {
    val t = filledTable("copy-on-write")
    val answers = new java.util.concurrent.atomic.AtomicInteger
    ChangingSource.rows = () => if (answers.getAndIncrement() == 0) Seq(Some(1L)) else Seq(Some(1L), Some(1000L))
    val source = spark.read.format(classOf[ChangingSource].getName).load()
    source.createOrReplaceTempView("changing")
    sql(s"MERGE INTO $t t USING (SELECT id, 1 AS p, 'x' AS n FROM changing) u ON t.id = u.id $upsert")
    assert(rows(s"SELECT id FROM $t GROUP BY id HAVING count(*) > 1").isEmpty)
    assert(rows(s"SELECT n FROM $t WHERE id = 1").map(_.getString(0)) == Seq("x") && answers.get == 1)
  }

  test("if its source is large or not deterministic, a MERGE has the plan that Spark creates", Slow) {
    val t = filledTable("copy-on-write")
    withConf(SQLConf.AUTO_BROADCASTJOIN_THRESHOLD.key -> "-1") {
      assert(joins(planOf(s"MERGE INTO $t t USING $source ON t.id = u.id $upsert")) == ((0, 1)))
      val hinted = s"(SELECT /*+ BROADCAST(v) */ * FROM $source v)".replace(") u v", ") v")
      assert(joins(planOf(s"MERGE INTO $t t USING $hinted u ON t.id = u.id $upsert"))._1 >= 1)
    }
    val random = "(SELECT id, CAST(rand() * 10 AS INT) AS p, 'r' AS n FROM range(10)) u"
    val changed = filledTable("merge-on-read")
    val plan = planOf(s"MERGE INTO $changed t USING $random ON t.id = u.id $upsert")
    assert(collect(plan) { case j: BroadcastHashJoinExec if j.joinType == LeftSemi => j }.isEmpty, plan.treeString)
  }
}
