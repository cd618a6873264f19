package iceberglite.spark.read

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

import iceberglite.scan.ScanReport

/** A metric of a scan in the SQL tab of Spark's UI. Spark instantiates the classes by name. */
sealed abstract class ScanMetric(override val name: String, override val description: String) extends CustomSumMetric {

  /** Returns the metric with its value in one scan or task. */
  private[read] def of(value: Long): CustomTaskMetric = ScanMetrics.Value(name, value)
}

final class ResultDataFiles extends ScanMetric("resultDataFiles", "data files to read")

final class SkippedDataFiles extends ScanMetric("skippedDataFiles", "data files skipped")

final class ResultDeleteFiles extends ScanMetric("resultDeleteFiles", "delete files to apply")

final class TotalDataFileSize extends ScanMetric("totalDataFileSize", "size of the data files to read (bytes)")

final class TotalDataManifests extends ScanMetric("totalDataManifest", "data manifests")

final class ScannedDataManifests extends ScanMetric("scannedDataManifests", "data manifests read")

final class SkippedDataManifests extends ScanMetric("skippedDataManifests", "data manifests skipped")

final class TotalDeleteManifests extends ScanMetric("totalDeleteManifests", "delete manifests")

final class ScannedDeleteManifests extends ScanMetric("scannedDeleteManifests", "delete manifests read")

final class SkippedDeleteManifests extends ScanMetric("skippedDeleteManifests", "delete manifests skipped")

final class IndexedDeleteFiles extends ScanMetric("indexedDeleteFiles", "delete files indexed")

final class PositionalDeleteFiles extends ScanMetric("positionalDeleteFiles", "position delete files indexed")

final class EqualityDeleteFiles extends ScanMetric("equalityDeleteFiles", "equality delete files indexed")

final class DeletionVectors extends ScanMetric("deletionVectors", "deletion vectors indexed")

final class SkippedDeleteFiles extends ScanMetric("skippedDeleteFiles", "delete files skipped")

final class TotalDeleteFileSize extends ScanMetric("totalDeleteFileSize", "size of the delete files to apply (bytes)")

final class TotalPlanningDuration extends ScanMetric("totalPlanningDuration", "planning time (ms)")

final class FilesReadByRows extends ScanMetric("filesReadByRows", "files read row by row")

final class NumSplits extends ScanMetric("numSplits", "file splits read")

final class NumDeletes extends ScanMetric("numDeletes", "rows removed by deletes")

private[read] object ScanMetrics {

  /** The planning metrics, each with a function that returns its value from a scan report. */
  private val ofPlanning: Vector[(ScanMetric, ScanReport => Long)] = Vector(
    new ResultDataFiles -> (_.resultFiles),
    new SkippedDataFiles -> (report => report.skippedFiles.getOrElse(report.prunedFiles)),
    new ResultDeleteFiles -> (_.deleteFiles),
    new TotalDataFileSize -> (_.resultBytes),
    new TotalDataManifests -> (_.totalManifests.toLong),
    new ScannedDataManifests -> (_.readManifests.toLong),
    new SkippedDataManifests -> (_.skippedManifests.toLong),
    new TotalDeleteManifests -> (_.deletes.totalManifests.toLong),
    new ScannedDeleteManifests -> (_.deletes.readManifests.toLong),
    new SkippedDeleteManifests -> (_.deletes.skippedManifests.toLong),
    new IndexedDeleteFiles -> (_.deletes.indexed.total),
    new PositionalDeleteFiles -> (_.deletes.indexed.positionFiles),
    new EqualityDeleteFiles -> (_.deletes.indexed.equalityFiles),
    new DeletionVectors -> (_.deletes.indexed.vectors),
    new SkippedDeleteFiles -> (_.deletes.skippedFiles.getOrElse(0L)),
    new TotalDeleteFileSize -> (_.deletes.resultBytes)
  )

  private val planningTime = new TotalPlanningDuration

  /** The metrics of tasks, each with a function that returns its value from the counts of a task. */
  private val ofReading: Vector[(ScanMetric, TaskCounts => Long)] = Vector(
    new NumSplits -> (_.splits),
    new NumDeletes -> (_.deletedRows),
    new FilesReadByRows -> (_.filesReadByRows)
  )

  def all: Array[CustomMetric] = (ofPlanning.map(_._1) ++ ofReading.map(_._1) :+ planningTime).toArray

  /** Returns the metrics of a scan. @param planningMs the duration of its planning in ms */
  def of(report: ScanReport, planningMs: Long): Array[CustomTaskMetric] =
    (ofPlanning.map { case (metric, value) => metric.of(value(report)) } :+ planningTime.of(planningMs)).toArray

  /** Returns the metrics of one Spark task. */
  def of(task: TaskCounts): Array[CustomTaskMetric] =
    ofReading.map { case (metric, value) => metric.of(value(task)) }.toArray

  /** Returns the counts of a Spark task from its metrics. */
  def counts(metrics: Array[CustomTaskMetric]): TaskCounts = {
    def sum(metric: ScanMetric): Long = metrics.iterator.filter(_.name == metric.name).map(_.value).sum
    TaskCounts(sum(new NumSplits), sum(new NumDeletes), sum(new FilesReadByRows))
  }

  final private[read] case class Value(override val name: String, override val value: Long) extends CustomTaskMetric
}

/**
 * What one Spark task has read.
 *
 * @param splits number of data files, or parts of data files
 * @param deletedRows number of rows that were read and that deletes removed. Deleted rows in parts of files that are
 *   not read are not included
 * @param filesReadByRows number of data files whose rows were decoded one by one, because no columnar reader supports
 *   the files
 */
final private[read] case class TaskCounts(splits: Long, deletedRows: Long, filesReadByRows: Long) {
  def +(other: TaskCounts): TaskCounts =
    TaskCounts(splits + other.splits, deletedRows + other.deletedRows, filesReadByRows + other.filesReadByRows)
}
