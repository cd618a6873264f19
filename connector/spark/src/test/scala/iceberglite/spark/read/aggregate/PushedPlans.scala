package iceberglite.spark.read.aggregate

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.LocalTableScanExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.scalatest.{Outcome, TestSuite, TestSuiteMixin}

import iceberglite.spark.SharedSession

/** Helpers for tests of queries that are answered from metadata, or whose files are skipped. */
trait PushedPlans extends SharedSession with AdaptiveSparkPlanHelper with TestSuiteMixin { self: TestSuite =>

  /** Settings that make queries with few rows faster: no code generation, no adaptive execution and one partition. */
  private val smallQuerySettings = Seq(
    "spark.sql.codegen.wholeStage" -> "false",
    "spark.sql.codegen.factoryMode" -> "NO_CODEGEN",
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.shuffle.partitions" -> "1",
    "spark.sql.leafNodeDefaultParallelism" -> "1"
  )

  abstract override def withFixture(test: NoArgTest): Outcome =
    withConf(smallQuerySettings: _*)(super.withFixture(test))

  protected def create(columns: String, clauses: String, properties: (String, String)*): String = {
    val table = newTable()
    val assignments = properties.map { case (k, v) => s"'$k' = '$v'" }.mkString(", ")
    val suffix = if (assignments.isEmpty) "" else s"TBLPROPERTIES ($assignments)"
    sql(s"CREATE TABLE ${inApacheIceberg(table)} ($columns) USING iceberg $clauses $suffix")
    table
  }

  protected def mergeOnRead(version: Int): Seq[(String, String)] = Seq("format-version" -> version.toString) ++
    Seq("delete", "update", "merge").map(s => s"write.$s.mode" -> "merge-on-read")

  /** Whether the query is answered from metadata, without reading data files. */
  protected def isFromMetadata(df: DataFrame): Boolean = {
    val plan = df.queryExecution.executedPlan
    val scans = collect(plan) { case s: BatchScanExec => s }
    scans.isEmpty && collect(plan) { case answer @ (_: AggregateScanExec | _: LocalTableScanExec) => answer }.nonEmpty
  }

  /**
   * Returns the rows of the query, after checking that Apache Iceberg reads the same rows from files. In the query,
   * `%s` stands for the table name.
   */
  protected def sameRows(table: String, query: String): Seq[String] = {
    sql(s"REFRESH TABLE $table")
    val result = sorted(query.replace("%s", table))
    withConf("spark.sql.iceberg.aggregate-push-down.enabled" -> "false") {
      assert(result == sorted(query.replace("%s", inApacheIceberg(table))), query)
    }
    result
  }

  /** Returns the rows of the query. Checks them as [[sameRows]] does, and that metadata alone answers the query. */
  protected def fromMetadata(table: String, query: String): Seq[String] = {
    val result = sameRows(table, query)
    val df = sql(query.replace("%s", table))
    assert(isFromMetadata(df), df.queryExecution.executedPlan)
    result
  }

  /** Returns the rows of the query. Checks them as [[sameRows]] does, and that the query reads data files. */
  protected def fromFiles(table: String, query: String): Seq[String] = {
    val result = sameRows(table, query)
    assert(!isFromMetadata(sql(query.replace("%s", table))), query)
    result
  }
}
