package iceberglite.scan

import java.util.IdentityHashMap

import iceberglite.scan.deletes.{DeleteCounts, DeleteFile}

/**
 * Statistics about the delete manifests and delete files in the planning of a scan.
 *
 * @param totalManifests number of delete manifests of the snapshot
 * @param readManifests number of delete manifests that were read
 * @param indexed numbers of the delete files that may apply to the files of the scan
 * @param skippedFiles number of live delete files of the snapshot that are not in `indexed`; absent if the manifest
 *   list has no file counts
 * @param resultBytes number of bytes of the delete files that apply to the files of the plan. Of a Puffin file, only
 *   the deletion vectors that apply are counted
 */
final case class DeleteReport(
    totalManifests: Int = 0,
    readManifests: Int = 0,
    indexed: DeleteCounts = DeleteCounts.Empty,
    skippedFiles: Option[Long] = Some(0L),
    resultBytes: Long = 0L
) {
  def skippedManifests: Int = totalManifests - readManifests
}

object DeleteReport {

  /** The report of a scan without deletes. */
  val Empty: DeleteReport = DeleteReport()

  /**
   * Returns the distinct delete files that apply to the tasks. Delete files are compared by reference, because tasks of
   * the same partition share them.
   */
  def filesOf(tasks: Vector[FileScanTask]): Vector[DeleteFile] = {
    val distinct = new IdentityHashMap[DeleteFile, DeleteFile]
    val files = Vector.newBuilder[DeleteFile]
    var last = Vector.empty[DeleteFile]
    tasks.foreach { t =>
      if (t.deletes ne last) t.deletes.foreach(d => if (Option(distinct.put(d, d)).isEmpty) files += d)
      last = t.deletes
    }
    files.result()
  }
}
