package iceberglite.table.action

import java.time.Instant

import iceberglite.spec.IcebergError.{InvalidArgument, ValidationFailed}
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.table.{Change, CommitContext, MetadataAction, SnapshotTarget}

/**
 * Rolls a branch back to a snapshot in its history. Commits that other writers make before the rollback is committed
 * are also rolled back.
 */
final class RollbackToSnapshot(snapshotId: Long, of: SnapshotTarget.Branch = SnapshotTarget.Main)
    extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val snapshot = base.snapshot(snapshotId)
    if (!Rollback.history(base, of).exists(_.snapshotId == snapshotId)) throw ValidationFailed(
      s"Cannot roll ${context.table} back to snapshot $snapshotId: " + (
        if (of == SnapshotTarget.Main)
          "it is not an ancestor of the current snapshot. Use set_current_snapshot, which accepts any snapshot"
        else
          s"it is not an ancestor of the head of the branch ${of.name}. Use REPLACE BRANCH, which accepts any snapshot"
      )
    )
    MoveBranch(base, of.name, snapshot.snapshotId)
  }
}

/** Rolls a branch back to the newest snapshot in its history that is older than a timestamp. */
final class RollbackToTimestamp(timestampMs: Long, of: SnapshotTarget.Branch = SnapshotTarget.Main)
    extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val older = Rollback.history(base, of).filter(_.timestampMs < timestampMs)
    if (older.isEmpty) throw InvalidArgument(
      "timestamp",
      Instant.ofEpochMilli(timestampMs).toString,
      s"The history of ${context.table} has no snapshot that is older than this timestamp"
    )
    // Timestamps are not always ascending in the history, because the clocks of writers differ.
    MoveBranch(base, of.name, older.maxBy(_.timestampMs).snapshotId)
  }
}

private object Rollback {
  def history(base: TableMetadata, of: SnapshotTarget.Branch): Vector[Snapshot] =
    of.head(base).toVector.flatMap(base.ancestors(_))
}
