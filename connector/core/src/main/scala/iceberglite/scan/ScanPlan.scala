package iceberglite.scan

import iceberglite.spec.expr.Expression
import iceberglite.storage.FileIO

/**
 * The files that a scan has to read.
 *
 * @param tasks one task for each file, in the order of the manifests and of their entries or, if a server planned the
 *   scan, in the order of its plan. Incremental reads and changelogs are ordered by commit, and a changelog may have
 *   several tasks for a file
 * @param filter the scan's filter, bound to the scan's schema
 * @param statsToKeep the metrics that the files retain
 * @param io the file access with the credentials that a server returned with the plan; absent if the files are read
 *   with the table's file access
 * @param skippedByIndex the files that only the Bloom index excludes. Because the index is only advice, another plan of
 *   the same scan may contain them
 */
final case class ScanPlan(
    tasks: Vector[FileScanTask],
    filter: Expression,
    report: ScanReport,
    statsToKeep: StatsToKeep = StatsToKeep.All,
    io: Option[FileIO] = None,
    skippedByIndex: Vector[FileScanTask] = Vector.empty
)

/**
 * Statistics about the planning of a scan. In an incremental read or a changelog, the numbers of manifests and of live
 * files refer to the manifests that the commits in the range wrote, instead of the manifests of a snapshot.
 *
 * @param totalManifests number of data manifests of the snapshot
 * @param skippedManifests number of data manifests that were not read, because they have no live files, because their
 *   partition summaries or column metrics exclude them, or because the earlier manifests have enough rows for the
 *   query's LIMIT
 * @param totalFiles number of live data files of the snapshot; absent if the manifest list has no file counts for a
 *   manifest that was not read
 * @param deleteFiles number of delete files that apply to the files of the plan
 * @param deletedRecords number of the rows in `resultRecords` that deletion vectors remove; rows that other delete
 *   files remove are not included, because their number is unknown
 * @param prunedFiles number of files in the read manifests that the scan does not read, because their partition, their
 *   metrics or the Bloom index excludes them, or because the earlier files have enough rows for the query's LIMIT
 * @param deletes statistics about delete manifests and delete files; empty for incremental reads and changelogs
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
    deletedRecords: Long = 0L,
    deletes: DeleteReport = DeleteReport.Empty
) {
  def readManifests: Int = totalManifests - skippedManifests

  /** Returns the number of live data files that the scan does not read. */
  def skippedFiles: Option[Long] = totalFiles.map(_ - resultFiles)

  /** Returns the maximum number of result rows that remain after the deletes, according to metadata. */
  def liveRecords: Long = math.max(0L, resultRecords - deletedRecords)

  /** Returns the report with the statistics about the deletes of the plan's tasks. */
  def withDeletesOf(tasks: Vector[FileScanTask]): ScanReport = {
    val files = DeleteReport.filesOf(tasks)
    val withDeletes = tasks.iterator.filter(_.deletes.nonEmpty)
    copy(
      deleteFiles = files.size.toLong,
      deletedRecords = withDeletes.map(t => t.file.recordCountOrZero - t.liveRecords).sum,
      deletes = deletes.copy(resultBytes = files.iterator.map(_.storedBytes).sum)
    )
  }

  /** Returns a single line of text for EXPLAIN and logs. */
  override def toString: String = {
    val files = totalFiles.fold(s"$resultFiles")(total => s"$resultFiles of $total")
    val deletes = if (deleteFiles == 0) "" else s", delete files $deleteFiles"
    s"files $files, manifests $readManifests of $totalManifests, records $resultRecords, bytes $resultBytes$deletes"
  }
}
