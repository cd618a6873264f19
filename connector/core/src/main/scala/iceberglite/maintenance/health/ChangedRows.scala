package iceberglite.maintenance.health

import iceberglite.spec.metadata.{Snapshot, SummaryKey}

/** Estimates how many rows a snapshot has added and deleted, from the summary of the snapshot. */
private[health] object ChangedRows {

  /**
   * Returns the number of added rows plus the number of deleted rows. An updated row counts twice, as a deleted row and
   * an added row. Missing entries of the summary count as 0.
   *
   *   - A new deletion vector contains the positions of the vector that it replaces. Therefore the removed positions
   *     are subtracted from the added ones.
   *   - If more positions are removed than added, data files were removed with their deletes. The rows at these
   *     positions were deleted before, so they are subtracted from the rows of the removed files.
   *   - A row of an equality delete counts as one deleted row.
   *   - A copy-on-write statement adds the unchanged rows of the removed files again, and the summary does not tell how
   *     many they are. Therefore only the difference between added and deleted rows counts if a snapshot has both. The
   *     other rows are [[copied]] rows.
   *   - If the snapshot replaced whole partitions or all rows of the table, all added and deleted rows count.
   */
  def of(snapshot: Snapshot): Long = {
    val (added, deleted) = (count(snapshot, SummaryKey.AddedRecords), deletedRows(snapshot))
    val ofFiles = if (replacesRows(snapshot, added)) added + deleted else math.abs(added - deleted)
    ofFiles + math.max(0L, positions(snapshot)) + count(snapshot, SummaryKey.AddedEqualityDeletes)
  }

  /**
   * Returns the number of rows that a copy-on-write statement has written again. The statement may have updated any of
   * these rows.
   */
  def copied(snapshot: Snapshot): Long = {
    val added = count(snapshot, SummaryKey.AddedRecords)
    if (replacesRows(snapshot, added)) 0L else math.min(added, deletedRows(snapshot))
  }

  private def count(snapshot: Snapshot, key: String): Long = snapshot.count(key).getOrElse(0L)

  private def positions(snapshot: Snapshot): Long =
    count(snapshot, SummaryKey.AddedPositionDeletes) - count(snapshot, SummaryKey.RemovedPositionDeletes)

  private def deletedRows(snapshot: Snapshot): Long =
    math.max(0L, count(snapshot, SummaryKey.DeletedRecords) - math.max(0L, -positions(snapshot)))

  private def replacesRows(snapshot: Snapshot, added: Long): Boolean =
    snapshot.summary.get(SummaryKey.ReplacePartitions).contains("true") ||
      snapshot.count(SummaryKey.TotalRecords).contains(added)
}
