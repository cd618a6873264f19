package iceberglite.scan

import iceberglite.spec.expr.Expression

/**
 * The files that a scan has to read.
 *
 * @param tasks one per file, in the order of the manifests and of their entries
 * @param filter the scan's filter, bound
 * @param statsToKeep which metrics of the files are kept, if known
 */
final case class ScanPlan(
    tasks: Vector[FileScanTask],
    filter: Expression,
    report: ScanReport,
    statsToKeep: StatsToKeep = StatsToKeep.All
)

/**
 * Statistics of the planning.
 *
 * @param totalManifests number of data manifests of the snapshot
 * @param skippedManifests number of those that were not read: they have no live files, were ruled out by their
 *   partition summaries, or were not needed because there were enough rows
 * @param totalFiles number of live data files of the snapshot; absent if a manifest that was not read does not have the
 *   count
 * @param deleteFiles number of delete files that apply to the files of the plan
 * @param deletedRecords number of rows of `resultRecords` that deletion vectors delete; for other deletes, the number
 *   is unknown
 * @param prunedFiles number of files in the manifests that were read that were ruled out by their partition or their
 *   metrics, or were not needed because there were enough rows
 */
final case class ScanReport(
    table: String,
    snapshotId: Option[Long],
    totalManifests: Int,
    skippedManifests: Int,
    totalFiles: Option[Long],
    prunedFiles: Long,
    resultFiles: Long,
    resultRecords: Long,
    resultBytes: Long,
    deleteFiles: Long = 0L,
    deletedRecords: Long = 0L
) {
  def readManifests: Int = totalManifests - skippedManifests

  /** Returns the number of files that need not be read. */
  def skippedFiles: Option[Long] = totalFiles.map(_ - resultFiles)

  /** Returns the maximum number of result rows that remain after the deletes, according to metadata. */
  def liveRecords: Long = math.max(0L, resultRecords - deletedRecords)

  /** Returns one line, for EXPLAIN and logs. */
  override def toString: String = {
    val files = totalFiles.fold(s"$resultFiles")(total => s"$resultFiles of $total")
    val deletes = if (deleteFiles == 0) "" else s", delete files $deleteFiles"
    s"files $files, manifests $readManifests of $totalManifests, records $resultRecords, bytes $resultBytes$deletes"
  }
}
