package iceberglite.spark.read

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

import iceberglite.scan.ScanReport

/** The metrics of a scan's planning and files in the SQL tab. Spark instantiates each class by its name. */
private[read] object ScanMetrics {

  def all: Array[CustomMetric] = Array(
    new ResultDataFiles,
    new SkippedDataFiles,
    new ResultDeleteFiles,
    new TotalDataFileSize,
    new TotalDataManifests,
    new ScannedDataManifests,
    new SkippedDataManifests,
    new TotalPlanningDuration,
    new FilesReadByRows
  )

  def of(report: ScanReport, planningMs: Long): Array[CustomTaskMetric] = Array(
    Value((new ResultDataFiles).name, report.resultFiles),
    Value((new SkippedDataFiles).name, report.skippedFiles.getOrElse(report.prunedFiles)),
    Value((new ResultDeleteFiles).name, report.deleteFiles),
    Value((new TotalDataFileSize).name, report.resultBytes),
    Value((new TotalDataManifests).name, report.totalManifests.toLong),
    Value((new ScannedDataManifests).name, report.readManifests.toLong),
    Value((new SkippedDataManifests).name, report.skippedManifests.toLong),
    Value((new TotalPlanningDuration).name, planningMs)
  )

  /** Returns the metrics of one task. @param byRows the number of data files that no columnar reader supports */
  def ofFiles(byRows: Long): Array[CustomTaskMetric] = Array(Value((new FilesReadByRows).name, byRows))

  final private case class Value(override val name: String, override val value: Long) extends CustomTaskMetric
}

final class ResultDataFiles extends CustomSumMetric {
  override def name: String = "resultDataFiles"
  override def description: String = "data files to read"
}

final class SkippedDataFiles extends CustomSumMetric {
  override def name: String = "skippedDataFiles"
  override def description: String = "data files skipped"
}

final class ResultDeleteFiles extends CustomSumMetric {
  override def name: String = "resultDeleteFiles"
  override def description: String = "delete files to apply"
}

final class TotalDataFileSize extends CustomSumMetric {
  override def name: String = "totalDataFileSize"
  override def description: String = "size of the data files to read (bytes)"
}

final class TotalDataManifests extends CustomSumMetric {
  override def name: String = "totalDataManifest"
  override def description: String = "data manifests"
}

final class ScannedDataManifests extends CustomSumMetric {
  override def name: String = "scannedDataManifests"
  override def description: String = "data manifests read"
}

final class SkippedDataManifests extends CustomSumMetric {
  override def name: String = "skippedDataManifests"
  override def description: String = "data manifests skipped"
}

final class TotalPlanningDuration extends CustomSumMetric {
  override def name: String = "totalPlanningDuration"
  override def description: String = "time of planning (ms)"
}

final class FilesReadByRows extends CustomSumMetric {
  override def name: String = "filesReadByRows"
  override def description: String = "files read by rows"
}
