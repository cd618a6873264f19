package iceberglite.spark.types

import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.scalatest.Suite

/** Queries on parts of variants. */
trait VariantQueries extends VariantTables with AdaptiveSparkPlanHelper { self: Suite =>
  protected val shredded = "write.parquet.shred-variants" -> "true"
  protected val parse = "lite.system.parse_variant"
  protected val toVariant = "lite.system.to_variant"

  protected def get(path: String, t: String) = s"lite.system.variant_get(v, '${path.replace("'", "\\'")}', '$t')"

  /** Inserts rows with the given variants in one file. The ids of the rows are consecutive numbers. */
  protected def insert(t: String, first: Int, variants: String*): Unit = {
    val values = variants.zipWithIndex.map { case (v, i) => s"(${first + i}, $v)" }
    sql(s"INSERT INTO $t SELECT /*+ COALESCE(1) */ * FROM VALUES ${values.mkString(", ")}")
  }

  /** What a query read: its result, the number of planned files, and the number of rows that the scan returned. */
  protected case class Read(rows: Seq[Row], files: Int, scanned: Long, plan: String)

  protected def read(query: String): Read = {
    val frame = spark.sql(query)
    val result = frame.collect().toSeq
    val plan = frame.queryExecution.executedPlan
    val scan = "files=(\\d+) of".r.findFirstMatchIn(plan.toString).map(_.group(1).toInt)
    // Spark replaces a scan by no rows if no row can match the condition.
    val files = scan.getOrElse(if (plan.toString.contains("LocalTableScan <empty>")) 0 else fail(plan.toString))
    Read(
      result,
      files,
      collect(plan) { case scan: BatchScanExec => scan.metrics("numOutputRows").value }.sum,
      plan.toString
    )
  }
}
