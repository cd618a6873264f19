package iceberglite.table.action

import java.time.Instant

import iceberglite.spec.IcebergError.{InvalidArgument, ValidationFailed}
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Rolls `main` back to a snapshot in its history. Commits that other writers make before the rollback is committed are
 * also rolled back.
 */
final class RollbackToSnapshot(snapshotId: Long) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val snapshot = base.snapshot(snapshotId)
    if (!Rollback.history(base).exists(_.snapshotId == snapshotId)) throw ValidationFailed(
      s"Cannot roll ${context.table} back to snapshot $snapshotId: it is not an ancestor of the current snapshot. " +
        "Use set_current_snapshot, which accepts any snapshot"
    )
    Rollback.to(snapshot, base)
  }
}

/** Rolls `main` back to the newest snapshot in its history that is older than a timestamp. */
final class RollbackToTimestamp(timestampMs: Long) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val older = Rollback.history(base).filter(_.timestampMs < timestampMs)
    if (older.isEmpty) throw InvalidArgument(
      "timestamp",
      Instant.ofEpochMilli(timestampMs).toString,
      s"The history of ${context.table} has no snapshot that is older than this timestamp"
    )
    // Timestamps are not always ascending in the history, because the clocks of writers differ.
    Rollback.to(older.maxBy(_.timestampMs), base)
  }
}

private object Rollback {
  def history(base: TableMetadata): Vector[Snapshot] = base.currentSnapshot.toVector.flatMap(base.ancestors(_))

  def to(snapshot: Snapshot, base: TableMetadata): Change = MoveBranch.main(base, snapshot.snapshotId)
}
