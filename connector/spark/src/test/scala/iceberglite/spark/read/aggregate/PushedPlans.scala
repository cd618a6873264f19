package iceberglite.spark.read.aggregate

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.LocalTableScanExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.scalatest.{Outcome, TestSuite, TestSuiteMixin}

import iceberglite.spark.SharedSession

/** Checks whether queries were answered from metadata. */
trait PushedPlans extends SharedSession with AdaptiveSparkPlanHelper with TestSuiteMixin { self: TestSuite =>

  /** For a few rows, interpreting a query is faster than compiling it. */
  private val quick = Seq(
    "spark.sql.codegen.wholeStage" -> "false",
    "spark.sql.codegen.factoryMode" -> "NO_CODEGEN",
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.shuffle.partitions" -> "1",
    "spark.sql.leafNodeDefaultParallelism" -> "1"
  )

  abstract override def withFixture(test: NoArgTest): Outcome = withConf(quick: _*)(super.withFixture(test))

  protected def create(columns: String, rest: String, properties: (String, String)*): String = {
    val table = newTable()
    val all = properties.map { case (k, v) => s"'$k' = '$v'" }.mkString(", ")
    val suffix = if (all.isEmpty) "" else s"TBLPROPERTIES ($all)"
    sql(s"CREATE TABLE ${peer(table)} ($columns) USING iceberg $rest $suffix")
    table
  }

  protected def mergeOnRead(version: Int): Seq[(String, String)] = Seq("format-version" -> version.toString) ++
    Seq("delete", "update", "merge").map(s => s"write.$s.mode" -> "merge-on-read")

  /** Whether the rows of a query come from metadata alone. */
  protected def isAnswered(df: DataFrame): Boolean = {
    val plan = df.queryExecution.executedPlan
    val scans = collect(plan) { case s: BatchScanExec => s }
    scans.isEmpty && collect(plan) { case known @ (_: AggregateScanExec | _: LocalTableScanExec) => known }.nonEmpty
  }

  /**
   * Returns the rows of a query with `%s` for the table, after comparing them with those that the peer reads from the
   * files.
   */
  protected def same(table: String, query: String): Seq[String] = {
    sql(s"REFRESH TABLE $table")
    val ours = sorted(query.replace("%s", table))
    withConf("spark.sql.iceberg.aggregate-push-down.enabled" -> "false") {
      assert(ours == sorted(query.replace("%s", peer(table))), query)
    }
    ours
  }

  /** Checks that the query is answered from metadata. @return the rows */
  protected def answered(table: String, query: String): Seq[String] = {
    val result = same(table, query)
    val df = sql(query.replace("%s", table))
    assert(isAnswered(df), df.queryExecution.executedPlan)
    result
  }

  protected def readFor(table: String, query: String): Seq[String] = {
    val result = same(table, query)
    assert(!isAnswered(sql(query.replace("%s", table))), query)
    result
  }
}
