package iceberglite.spark

import iceberglite.spec.metadata.{Snapshot, SummaryKey}
import iceberglite.table.{RemovedRows, Table}

/**
 * The numbers of rows that a write of a DataFrame added and removed.
 *
 * All numbers are absent if the write has committed, but its snapshot could not be read afterwards. `inserted` and
 * `deleted` are also absent after [[TableWriteCalls.replaceWhere]] if files were replaced, because the summary of the
 * snapshot does not distinguish new rows from rows that were only rewritten.
 *
 * @param inserted rows that were added
 * @param deleted rows that were removed. The number is also absent after an upsert, which does not read the table.
 *   After an overwrite of files, it is absent if delete files would have to be read to count the rows of the replaced
 *   files that had been deleted before. This is the case if equality deletes, or position delete files that cover
 *   several data files, may apply to the replaced files, or if several position delete files apply to one of them
 * @param snapshotId the snapshot of the write; absent if the write changed nothing
 */
final case class WrittenRows(inserted: Option[Long], deleted: Option[Long], snapshotId: Option[Long])

object WrittenRows {
  private[iceberglite] val NoChange: WrittenRows = WrittenRows(Some(0), Some(0), None)
  private[iceberglite] val Unknown: WrittenRows = WrittenRows(None, None, None)

  /** Reads the counts of an append or of an overwrite of whole files. */
  private[iceberglite] def ofWholeFiles(table: Table, snapshot: Snapshot): WrittenRows =
    WrittenRows(added(snapshot), RemovedRows.count(table, snapshot), id(snapshot))

  /** Reads the counts of an overwrite that may replace some rows of a file. */
  private[iceberglite] def ofPartialOverwrite(snapshot: Snapshot): WrittenRows =
    if (count(snapshot, SummaryKey.DeletedRecords) > 0) WrittenRows(None, None, id(snapshot))
    else WrittenRows(added(snapshot), Some(0), id(snapshot))

  private[iceberglite] def ofUpsert(snapshot: Snapshot): WrittenRows = WrittenRows(added(snapshot), None, id(snapshot))

  private def count(snapshot: Snapshot, key: String): Long = snapshot.count(key).getOrElse(0L)
  private def added(snapshot: Snapshot): Option[Long] = Some(count(snapshot, SummaryKey.AddedRecords))
  private def id(snapshot: Snapshot): Option[Long] = Some(snapshot.snapshotId)
}
