package iceberglite.scan

import iceberglite.spec.expr.Expression

/**
 * What a scan has to read.
 *
 * @param tasks one a file, in the order of the manifests and of the files in them
 * @param filter the scan's filter, bound
 * @param keeps which metrics of the files are there, if they are known at all
 */
final case class ScanPlan(
    tasks: Vector[FileScanTask],
    filter: Expression,
    report: ScanReport,
    keeps: StatsToKeep = StatsToKeep.All
)

/**
 * How a plan came about.
 *
 * @param totalManifests the data manifests of the snapshot
 * @param skippedManifests those that were not read: without live files, ruled out by their partition summaries, or not
 *   needed for the rows that were enough
 * @param totalFiles the live data files of the snapshot; absent where a manifest that was not read does not say how
 *   many it has
 * @param deleteFiles the delete files that apply to the files of the plan
 * @param deletedRecords how many rows deletion vectors take out of `resultRecords`; other deletes do not tell
 * @param prunedFiles files of the manifests that were read, ruled out by their partition or their metrics, or not needed
 *   for the rows that were enough
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

  /** All files that need not be read. */
  def skippedFiles: Option[Long] = totalFiles.map(_ - resultFiles)

  /** At most so many rows are left of the result, as far as metadata tells. */
  def liveRecords: Long = math.max(0L, resultRecords - deletedRecords)

  /** One line, for EXPLAIN and logs. */
  override def toString: String = {
    val files = totalFiles.fold(s"$resultFiles")(total => s"$resultFiles of $total")
    val deletes = if (deleteFiles == 0) "" else s", delete files $deleteFiles"
    s"files $files, manifests $readManifests of $totalManifests, records $resultRecords, bytes $resultBytes$deletes"
  }
}
