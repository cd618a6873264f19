package iceberglite.spark

import iceberglite.spark.write.RowCounts._
import iceberglite.spec.metadata.Snapshot

/**
 * The numbers of rows that a statement changed.
 *
 * @param deleted absent if they were not counted: for a copy-on-write DELETE with a subquery, or a MERGE whose only
 *   action on matched rows is a DELETE without a condition, from files with position deletes or equality deletes
 * @param copied rows that copy-on-write rewrote unchanged
 * @param snapshotId the snapshot of the statement; absent if it changed nothing
 */
final case class RowChanges(
    inserted: Long,
    updated: Long,
    deleted: Option[Long],
    copied: Long,
    snapshotId: Option[Long]
)

object RowChanges {

  /** The key of the statement's id in the summary of its snapshot. */
  private[iceberglite] val StatementId = "statement-id"

  val Nothing: RowChanges = RowChanges(0, 0, Some(0), 0, None)

  /**
   * Reads the counts from the summary of the statement's snapshot. If the statement deleted whole files, the counts may
   * include rows of these files that were deleted before.
   */
  private[iceberglite] def of(snapshot: Snapshot): RowChanges = {
    def count(key: String): Option[Long] = snapshot.count(key)
    def sum(keys: String*): Option[Long] = keys.flatMap(count(_)).reduceOption(_ + _)
    val merged = snapshot.summary.contains(MergeCopied)
    val updated = sum(MergeUpdated, UpdateUpdated)
    val (added, removed) = (count("added-records").getOrElse(0L), count("deleted-records").getOrElse(0L))
    val removedPositionDeletes = count("removed-position-deletes").getOrElse(0L)
    val byFiles = !merged && updated.isEmpty
    val isCopy = snapshot.summary.contains(DeleteCopied)
    RowChanges(
      inserted = count(MergeInserted).getOrElse(if (byFiles && removed == 0) added else 0L),
      updated = updated.getOrElse(0L),
      deleted = sum(MergeDeleted, DeleteDeleted).orElse {
        if (updated.isDefined && !merged) Some(0L)
        else if (byFiles && !isCopy) Some(math.max(0L, removed - added - removedPositionDeletes))
        else None
      },
      copied = sum(MergeCopied, UpdateCopied, DeleteCopied).getOrElse(0L),
      snapshotId = Some(snapshot.snapshotId)
    )
  }
}
