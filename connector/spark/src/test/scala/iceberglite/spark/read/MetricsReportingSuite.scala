package iceberglite.spark.read

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.JavaConverters._

import org.apache.iceberg.metrics.{CommitReport, ScanReport}
import org.apache.iceberg.rest.requests.ReportMetricsRequestParser
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.CollectingReporter
import iceberglite.spark.{SharedSession, SparkCatalog}
import iceberglite.spec.rest.{MetricsReport, MetricsReportJson}

/** Tests the metrics that a reporter receives for statements. */
class MetricsReportingSuite extends AnyFunSuite with SharedSession {

  private def inCatalog(name: String)(body: String => Unit): Unit = {
    val settings = SharedSession.catalogConf(
      name,
      classOf[SparkCatalog].getName,
      "type" -> "hadoop",
      "warehouse" -> newDirectory("metrics").toUri.toString,
      "metrics-reporter-impl" -> classOf[CollectingReporter].getName
    )
    withConf(settings.toSeq: _*) {
      sql(s"CREATE NAMESPACE $name.db")
      body(s"$name.db.t")
    }
  }

  /** Returns a report as Apache Iceberg parses it. */
  private def parsed(report: MetricsReport): Any =
    ReportMetricsRequestParser.fromJson(new String(MetricsReportJson.bytes(report), UTF_8)).report

  test("a write reports its commit, and a query reports its scan, in the form that Apache Iceberg parses") {
    inCatalog("reporting") { t =>
      sql(s"CREATE TABLE $t (id BIGINT, s STRING) USING iceberg")
      sql(s"INSERT INTO $t SELECT id, 'a' FROM range(0, 10, 1, 1)")
      parsed(CollectingReporter.next(t)) match {
        case commit: CommitReport =>
          assert(commit.tableName == t && commit.operation == "append" && commit.sequenceNumber == 1)
          val metrics = commit.commitMetrics
          assert(metrics.addedRecords.value == 10 && metrics.addedDataFiles.value == 1 && metrics.attempts.value == 1)
          assert(!metrics.totalDuration.totalDuration.isNegative && metrics.addedFilesSizeInBytes.value > 0)
          assert(commit.metadata.get("engine-name") == "spark")
        case other => fail(s"$other")
      }
      val snapshot = rows(s"SELECT snapshot_id FROM $t.snapshots").head.getLong(0)
      sql(s"SELECT s FROM $t WHERE id > 3 AND s LIKE 'a%'").collect()
      parsed(CollectingReporter.next(t)) match {
        case scan: ScanReport =>
          assert(scan.tableName == t && scan.snapshotId == snapshot && scan.schemaId == 0)
          assert(scan.projectedFieldNames.asScala.toSet == Set("id", "s"))
          assert(scan.filter.toString.contains("id") && !scan.filter.toString.contains("3"))
          assert(scan.scanMetrics.resultDataFiles.value == 1 && scan.scanMetrics.scannedDataManifests.value == 1)
        case other => fail(s"$other")
      }
    }
  }

  test("a metadata statement without a snapshot reports nothing, and a DELETE reports the snapshot that it commits") {
    inCatalog("reportingmerge") { t =>
      sql(s"CREATE TABLE $t (id BIGINT) USING iceberg")
      sql(s"ALTER TABLE $t ADD COLUMN s STRING")
      sql(s"INSERT INTO $t VALUES (1, 'a')")
      val operations = Iterator.continually(CollectingReporter.next(t)).collect {
        case commit: MetricsReport.OfCommit => commit.operation
      }
      assert(operations.next() == "append")
      sql(s"DELETE FROM $t WHERE id = 1")
      assert(operations.next() == "delete")
    }
  }
}
