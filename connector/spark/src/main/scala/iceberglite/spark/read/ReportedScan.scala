package iceberglite.spark.read

import org.apache.spark.sql.SparkSession

import iceberglite.scan.ScanReport
import iceberglite.spark.conf.EngineSummary
import iceberglite.spark.read.files.ScanColumns
import iceberglite.spark.read.planning.ScanFiles
import iceberglite.spec.rest.{Metric, MetricsReport}

/** Reports the metrics of the planning of a scan to the metrics reporters of the table's catalog. */
private[read] object ReportedScan {

  /** @param planned the statistics of the files to read */
  def report(files: ScanFiles, columns: ScanColumns, planned: ScanReport, session: SparkSession): Unit =
    files.snapshot.foreach { snapshot =>
      def report: MetricsReport = MetricsReport.OfScan(
        files.table.name,
        snapshot.snapshotId,
        files.plan.filter,
        files.schema.schemaId,
        columns.fields.filterNot(f => columns.metadataIds(f.id)),
        metricsOf(planned, files.planningMs),
        EngineSummary.of(session) - EngineSummary.ApplicationId
      )
      files.table.committer.report(files.table.id, report)
    }

  private def metricsOf(planned: ScanReport, planningMs: Long): Map[String, Metric] = Map(
    "total-planning-duration" -> Metric.timed(planningMs * 1000000L),
    "result-data-files" -> Metric.count(planned.resultFiles),
    "result-delete-files" -> Metric.count(planned.deleteFiles),
    "skipped-data-files" -> Metric.count(planned.skippedFiles.getOrElse(planned.prunedFiles)),
    "total-file-size-in-bytes" -> Metric.bytes(planned.resultBytes),
    "total-delete-file-size-in-bytes" -> Metric.bytes(planned.deletes.resultBytes),
    "total-delete-manifests" -> Metric.count(planned.deletes.totalManifests.toLong),
    "scanned-delete-manifests" -> Metric.count(planned.deletes.readManifests.toLong),
    "skipped-delete-manifests" -> Metric.count(planned.deletes.skippedManifests.toLong),
    "indexed-delete-files" -> Metric.count(planned.deletes.indexed.total),
    "positional-delete-files" -> Metric.count(planned.deletes.indexed.positionFiles),
    "equality-delete-files" -> Metric.count(planned.deletes.indexed.equalityFiles),
    "dvs" -> Metric.count(planned.deletes.indexed.vectors),
    "skipped-delete-files" -> Metric.count(planned.deletes.skippedFiles.getOrElse(0L)),
    "total-data-manifests" -> Metric.count(planned.totalManifests.toLong),
    "scanned-data-manifests" -> Metric.count(planned.readManifests.toLong),
    "skipped-data-manifests" -> Metric.count(planned.skippedManifests.toLong)
  )
}
