package iceberglite.spark

import iceberglite.spark.write.RowCounts._
import iceberglite.spec.metadata.{Snapshot, SummaryKey}

/**
 * The numbers of rows that a statement changed.
 *
 * @param deleted absent if the number of deleted rows is unknown. It is unknown if position deletes or equality deletes
 *   apply to the files that the statement rewrites, and the statement is a copy-on-write DELETE with a subquery, or a
 *   copy-on-write MERGE whose only action on matched rows is a DELETE without a condition. It can also be unknown if a
 *   manifest entry of one of the files has no valid record count.
 * @param copied number of unchanged rows that copy-on-write copied to new files
 * @param snapshotId the snapshot that the statement created; absent if it created none, because it changed nothing
 */
final case class RowChanges(
    inserted: Long,
    updated: Long,
    deleted: Option[Long],
    copied: Long,
    snapshotId: Option[Long]
)

object RowChanges {

  /** The snapshot summary key for the id of the statement that created the snapshot. */
  private[iceberglite] val StatementId = "statement-id"

  val NoChange: RowChanges = RowChanges(0, 0, Some(0), 0, None)

  /**
   * Reads the counts from the summary of the snapshot that the statement created. If the statement deleted whole data
   * files, the counts may include rows of these files that earlier deletes had already removed.
   */
  private[iceberglite] def of(snapshot: Snapshot): RowChanges = {
    def count(key: String): Option[Long] = snapshot.count(key)
    def sum(keys: String*): Option[Long] = keys.flatMap(count(_)).reduceOption(_ + _)
    val isMerge = snapshot.summary.contains(MergeCopied)
    val updated = sum(MergeUpdated, UpdateUpdated)
    val (added, removed) =
      (count(SummaryKey.AddedRecords).getOrElse(0L), count(SummaryKey.DeletedRecords).getOrElse(0L))
    val removedPositionDeletes = count(SummaryKey.RemovedPositionDeletes).getOrElse(0L)
    val hasOnlyFileCounts = !isMerge && updated.isEmpty
    val isCopyOnWriteDelete = snapshot.summary.contains(DeleteCopied)
    RowChanges(
      inserted = count(MergeInserted).getOrElse(if (hasOnlyFileCounts && removed == 0) added else 0L),
      updated = updated.getOrElse(0L),
      deleted = sum(MergeDeleted, DeleteDeleted).orElse {
        if (updated.isDefined && !isMerge) Some(0L)
        else if (hasOnlyFileCounts && !isCopyOnWriteDelete) Some(math.max(0L, removed - added - removedPositionDeletes))
        else None
      },
      copied = sum(MergeCopied, UpdateCopied, DeleteCopied).getOrElse(0L),
      snapshotId = Some(snapshot.snapshotId)
    )
  }
}
