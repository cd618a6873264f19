package iceberglite.maintenance.expire

import iceberglite.spec.file.Content
import iceberglite.table.RetainedFiles

/** Numbers of files by kind. A Puffin file with deletion vectors counts as one position delete file. */
final case class FileCounts(
    dataFiles: Long = 0,
    positionDeleteFiles: Long = 0,
    equalityDeleteFiles: Long = 0,
    manifests: Long = 0,
    manifestLists: Long = 0,
    statisticsFiles: Long = 0
) {
  def add(content: Content, count: Long): FileCounts = content match {
    case Content.Data => copy(dataFiles = dataFiles + count)
    case Content.PositionDeletes => copy(positionDeleteFiles = positionDeleteFiles + count)
    case Content.EqualityDeletes => copy(equalityDeleteFiles = equalityDeleteFiles + count)
  }
}

/**
 * The result of an expiration.
 *
 * @param snapshotIds the ids of the expired snapshots
 * @param refs the names of the expired branches and tags
 * @param deleted the files that were deleted; for a dry run, the files that would be deleted
 * @param kept the files that no snapshot refers to any more, but that are not deleted. They become orphan files
 * @param reads the queries that were running when the expiration began and that read the expired snapshots
 */
final case class ExpireResult(
    snapshotIds: Set[Long],
    refs: Set[String],
    deleted: FileCounts,
    kept: Vector[RetainedFiles],
    reads: ExpiredReads = ExpiredReads.None
)
