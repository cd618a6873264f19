package iceberglite.maintenance.health

import iceberglite.spec.metadata.{Snapshot, SummaryKey}

/** Estimates from its summary how many rows a snapshot has added and deleted. */
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
   *     many they are. Therefore only the difference between added and deleted rows counts if a snapshot has both. This
   *     misses rows that such a statement has updated.
   *   - If the snapshot replaced whole partitions or all rows of the table, all added and deleted rows count.
   */
  def of(snapshot: Snapshot): Long = {
    def count(key: String): Long = snapshot.count(key).getOrElse(0L)
    val positions = count(SummaryKey.AddedPositionDeletes) - count(SummaryKey.RemovedPositionDeletes)
    val added = count(SummaryKey.AddedRecords)
    val deleted = math.max(0L, count(SummaryKey.DeletedRecords) - math.max(0L, -positions))
    val ofFiles = if (replacesRows(snapshot, added)) added + deleted else math.abs(added - deleted)
    ofFiles + math.max(0L, positions) + count(SummaryKey.AddedEqualityDeletes)
  }

  private def replacesRows(snapshot: Snapshot, added: Long): Boolean =
    snapshot.summary.get(SummaryKey.ReplacePartitions).contains("true") ||
      snapshot.count(SummaryKey.TotalRecords).contains(added)
}
