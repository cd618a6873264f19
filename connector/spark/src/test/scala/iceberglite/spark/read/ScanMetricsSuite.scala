package iceberglite.spark.read

import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.spark.SharedSession

/** Compares the metrics of scans in Spark's SQL tab with those of Apache Iceberg. */
class ScanMetricsSuite extends AnyFunSuite with SharedSession with AdaptiveSparkPlanHelper {

  private def metricsOf(query: String): Map[String, Long] = {
    val df = sql(query)
    df.collect()
    val scan = collectFirst(df.queryExecution.executedPlan) { case s: BatchScanExec => s }.get
    scan.metrics.map { case (name, metric) => name -> metric.value }
  }

  /** Returns a table with two partitions and, in each of them, one data file with deletes. */
  private def tableWithDeletes(version: Int): String = {
    val table = newTable()
    sql(
      s"""CREATE TABLE $table (id bigint, p int) USING iceberg PARTITIONED BY (p) TBLPROPERTIES (
         |'format-version' = '$version', 'write.delete.mode' = 'merge-on-read')""".stripMargin
    )
    sql(s"INSERT INTO $table SELECT id, CAST(id % 2 AS int) FROM range(0, 100, 1, 1)")
    sql(s"DELETE FROM $table WHERE id IN (10, 20, 30) AND p = 0")
    sql(s"DELETE FROM $table WHERE id IN (11, 21) AND p = 1")
    table
  }

  for (version <- Seq(2, 3))
    test(
      s"a scan has the metrics of Apache Iceberg, with the same values, in version $version",
      Sampling.slowUnless(version == 3): _*
    ) {
      val table = tableWithDeletes(version)
      for (condition <- Seq("", " WHERE p = 0", " WHERE p = 7")) {
        val ours = metricsOf(s"SELECT id FROM $table$condition")
        val peers = metricsOf(s"SELECT id FROM ${inApacheIceberg(table)}$condition")
        val ofPeer = peers.keySet - "numOutputRows"
        assert(ofPeer.contains("numDeletes") && ofPeer.subsetOf(ours.keySet), ofPeer -- ours.keySet)
        // Apache Iceberg does not count the files of skipped manifests.
        val compared = ofPeer -- Seq("totalPlanningDuration", "skippedDataFiles", "skippedDeleteFiles")
        assert(ours.filterKeys(compared).toSeq.sorted == peers.filterKeys(compared).toSeq.sorted, condition)
      }
      val ofOnePartition = metricsOf(s"SELECT id FROM $table WHERE p = 0")
      assert(ofOnePartition("skippedDeleteFiles") == 1 && ofOnePartition("indexedDeleteFiles") == 1)
      assert(metricsOf(s"SELECT id FROM $table")("numDeletes") == 5)
      assert(ofOnePartition("numDeletes") == 3)
      val vectors = metricsOf(s"SELECT id FROM $table")("deletionVectors")
      assert(vectors == (if (version == 3) 2 else 0))
    }

  test("equality delete files, and the rows that they delete, are counted") {
    val table = newTable()
    sql(s"CREATE TABLE $table (id bigint, n bigint) USING iceberg TBLPROPERTIES ('format-version' = '2')")
    sql(s"INSERT INTO $table SELECT id, id FROM range(0, 100, 1, 1)")
    spark.range(3).selectExpr("id", "id + 100 AS n").coalesce(1).writeTo(table).option("upsert-keys", "id").append()
    val (ours, peers) = (metricsOf(s"SELECT * FROM $table"), metricsOf(s"SELECT * FROM ${inApacheIceberg(table)}"))
    assert(ours("equalityDeleteFiles") == 1 && ours("indexedDeleteFiles") == 1 && ours("numDeletes") == 3)
    val compared = peers.keySet - "totalPlanningDuration" - "numOutputRows"
    assert(ours.filterKeys(compared) == peers.filterKeys(compared))
  }
}
