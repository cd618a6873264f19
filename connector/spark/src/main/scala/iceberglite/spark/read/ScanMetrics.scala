package iceberglite.spark.read

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

import iceberglite.scan.ScanReport

/** A metric of a scan in the SQL tab of Spark's UI. Spark instantiates the classes by name. */
sealed abstract class ScanMetric(override val name: String, override val description: String) extends CustomSumMetric {

  /** Returns the metric with its value in one scan or task. */
  private[read] def of(scan: Long): CustomTaskMetric = ScanMetrics.Value(name, scan)
}

final class ResultDataFiles extends ScanMetric("resultDataFiles", "data files to read")

final class SkippedDataFiles extends ScanMetric("skippedDataFiles", "data files skipped")

final class ResultDeleteFiles extends ScanMetric("resultDeleteFiles", "delete files to apply")

final class TotalDataFileSize extends ScanMetric("totalDataFileSize", "size of the data files to read (bytes)")

final class TotalDataManifests extends ScanMetric("totalDataManifest", "data manifests")

final class ScannedDataManifests extends ScanMetric("scannedDataManifests", "data manifests read")

final class SkippedDataManifests extends ScanMetric("skippedDataManifests", "data manifests skipped")

final class TotalPlanningDuration extends ScanMetric("totalPlanningDuration", "planning time (ms)")

final class FilesReadByRows extends ScanMetric("filesReadByRows", "files read row by row")

private[read] object ScanMetrics {

  /** The planning metrics, each with a function that returns its value from a scan report. */
  private val ofPlanning: Vector[(ScanMetric, ScanReport => Long)] = Vector(
    new ResultDataFiles -> (_.resultFiles),
    new SkippedDataFiles -> (report => report.skippedFiles.getOrElse(report.prunedFiles)),
    new ResultDeleteFiles -> (_.deleteFiles),
    new TotalDataFileSize -> (_.resultBytes),
    new TotalDataManifests -> (_.totalManifests.toLong),
    new ScannedDataManifests -> (_.readManifests.toLong),
    new SkippedDataManifests -> (_.skippedManifests.toLong)
  )

  private val planningTime = new TotalPlanningDuration
  private val readByRows = new FilesReadByRows

  def all: Array[CustomMetric] = (ofPlanning.map(_._1) :+ planningTime :+ readByRows).toArray

  /** Returns the metrics of a scan. @param planningMs the duration of its planning in ms */
  def of(report: ScanReport, planningMs: Long): Array[CustomTaskMetric] =
    (ofPlanning.map { case (metric, value) => metric.of(value(report)) } :+ planningTime.of(planningMs)).toArray

  /**
   * Returns the metrics of one Spark task.
   *
   * @param filesReadByRows the number of data files whose rows were decoded one by one, because no columnar reader
   *   supports the files
   */
  def ofFiles(filesReadByRows: Long): Array[CustomTaskMetric] = Array(readByRows.of(filesReadByRows))

  final private[read] case class Value(override val name: String, override val value: Long) extends CustomTaskMetric
}
