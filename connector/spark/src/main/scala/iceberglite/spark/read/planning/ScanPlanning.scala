package iceberglite.spark.read.planning

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.scan.{KeptMetrics, TableScan}
import iceberglite.spark.conf.PlanningModes

/**
 * How the scans of one query are planned: by whom, and what the driver keeps of the files.
 *
 * @param manifestBytes of so large manifests the driver keeps no metrics but those that somebody asks for
 */
final private[read] class ScanPlanning(
    session: SparkSession,
    modes: PlanningModes,
    manifestBytes: Long = ScanPlanning.ManifestBytes
) {
  private val processors = Runtime.getRuntime.availableProcessors

  /** @param asked the ids of the columns that somebody wants the metrics of, however many files there are */
  def of(scan: TableScan, asked: Set[Int]): TableScan = scan.copy(
    keeps = KeptMetrics.Of(asked, fromBytes = manifestBytes),
    cluster = Some(new SparkPlanning(session.sparkContext, modes, scan.table.name, processors))
  )
}

private[read] object ScanPlanning {

  /** Decoded, manifests are about ten times as large; of more than a part of the heap the driver keeps the least. */
  private val ManifestBytes: Long = Runtime.getRuntime.maxMemory / 80

  /** @throws iceberglite.spec.IcebergError.InvalidArgument for a value that cannot be */
  def of(options: CaseInsensitiveStringMap, session: SparkSession, properties: Map[String, String]): ScanPlanning =
    new ScanPlanning(session, PlanningModes.of(options, session, properties))
}
