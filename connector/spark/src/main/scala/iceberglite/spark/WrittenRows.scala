package iceberglite.spark

import iceberglite.spec.metadata.{Snapshot, SummaryKey}

/**
 * The numbers of rows that a write of a DataFrame added and removed.
 *
 * All numbers are absent if the write has committed, but its snapshot could not be read afterwards. `inserted` and
 * `deleted` are also absent after [[TableWriteCalls.replaceWhere]] if files were replaced, because the summary of the
 * snapshot does not distinguish new rows from rows that were only rewritten.
 *
 * @param inserted rows that were added
 * @param deleted rows that were removed. The number is also absent after an upsert, which does not read the table, and
 *   after an overwrite of files to which equality deletes may apply
 * @param snapshotId the snapshot of the write; absent if the write changed nothing
 */
final case class WrittenRows(inserted: Option[Long], deleted: Option[Long], snapshotId: Option[Long])

object WrittenRows {
  private[iceberglite] val NoChange: WrittenRows = WrittenRows(Some(0), Some(0), None)
  private[iceberglite] val Unknown: WrittenRows = WrittenRows(None, None, None)

  /**
   * Reads the counts of an append or of an overwrite of whole files. The summary counts all rows of removed files,
   * including an unknown number of rows that equality deletes had already deleted.
   */
  private[iceberglite] def ofWholeFiles(snapshot: Snapshot): WrittenRows = {
    val removed = count(snapshot, SummaryKey.DeletedRecords)
    val equalityDeletes =
      count(snapshot, SummaryKey.TotalEqualityDeletes) + count(snapshot, SummaryKey.RemovedEqualityDeletes)
    val live = math.max(0L, removed - count(snapshot, SummaryKey.RemovedPositionDeletes))
    WrittenRows(added(snapshot), Some(live).filter(_ => removed == 0 || equalityDeletes == 0), id(snapshot))
  }

  /** Reads the counts of an overwrite that may replace some rows of a file. */
  private[iceberglite] def ofPartialOverwrite(snapshot: Snapshot): WrittenRows =
    if (count(snapshot, SummaryKey.DeletedRecords) > 0) WrittenRows(None, None, id(snapshot))
    else WrittenRows(added(snapshot), Some(0), id(snapshot))

  private[iceberglite] def ofUpsert(snapshot: Snapshot): WrittenRows = WrittenRows(added(snapshot), None, id(snapshot))

  private def count(snapshot: Snapshot, key: String): Long = snapshot.count(key).getOrElse(0L)
  private def added(snapshot: Snapshot): Option[Long] = Some(count(snapshot, SummaryKey.AddedRecords))
  private def id(snapshot: Snapshot): Option[Long] = Some(snapshot.snapshotId)
}
