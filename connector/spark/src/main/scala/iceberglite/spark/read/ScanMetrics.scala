package iceberglite.spark.read

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

import iceberglite.scan.ScanReport

/** The metrics of a scan in the SQL tab of Spark's UI. Spark instantiates each metric class by its name. */
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
    TaskMetric((new ResultDataFiles).name, report.resultFiles),
    TaskMetric((new SkippedDataFiles).name, report.skippedFiles.getOrElse(report.prunedFiles)),
    TaskMetric((new ResultDeleteFiles).name, report.deleteFiles),
    TaskMetric((new TotalDataFileSize).name, report.resultBytes),
    TaskMetric((new TotalDataManifests).name, report.totalManifests.toLong),
    TaskMetric((new ScannedDataManifests).name, report.readManifests.toLong),
    TaskMetric((new SkippedDataManifests).name, report.skippedManifests.toLong),
    TaskMetric((new TotalPlanningDuration).name, planningMs)
  )

  /**
   * Returns the metrics of one Spark task.
   *
   * @param filesReadByRows the number of data files whose rows were decoded one by one, because no columnar reader
   *   supports the files
   */
  def ofFiles(filesReadByRows: Long): Array[CustomTaskMetric] =
    Array(TaskMetric((new FilesReadByRows).name, filesReadByRows))

  final private case class TaskMetric(override val name: String, override val value: Long) extends CustomTaskMetric
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
