package iceberglite.spark.read.planning

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.scan.{StatsToKeep, TableScan}
import iceberglite.spark.conf.PlanningModes

/**
 * How the scans of one query are planned: where manifests are read, and which metrics the driver keeps.
 *
 * @param manifestBytes total size of manifests in bytes; if the manifests are larger, the driver keeps only requested
 *   metrics
 */
final private[read] class ScanPlanning(
    session: SparkSession,
    modes: PlanningModes,
    manifestBytes: Long = ScanPlanning.ManifestBytes
) {
  private val processors = Runtime.getRuntime.availableProcessors

  /**
   * Configures a scan.
   *
   * @param metricsColumns the ids of the columns whose metrics are requested, regardless of the number of files
   */
  def of(scan: TableScan, metricsColumns: Set[Int]): TableScan = scan.copy(
    statsToKeep = StatsToKeep.Of(metricsColumns, fromBytes = manifestBytes),
    cluster = Some(new SparkPlanning(session.sparkContext, modes, scan.table.name, processors))
  )
}

private[read] object ScanPlanning {

  /**
   * The default total size of manifests in bytes above which the driver keeps only requested metrics. Decoded manifests
   * are about ten times as large as their files, so manifests of this total size use about an eighth of the heap.
   */
  private val ManifestBytes: Long = Runtime.getRuntime.maxMemory / 80

  /** Reads the settings. @throws iceberglite.spec.IcebergError.InvalidArgument if a value is invalid */
  def of(options: CaseInsensitiveStringMap, session: SparkSession, properties: Map[String, String]): ScanPlanning =
    new ScanPlanning(session, PlanningModes.of(options, session, properties))
}
