package iceberglite.table.action

import iceberglite.spec.metadata.{StatisticsFile, TableMetadata}
import iceberglite.spec.update.MetadataUpdate
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Registers a Puffin file with statistics of a snapshot (spec: "Table Statistics"), and replaces the snapshot's earlier
 * file. The commit fails only if the snapshot does not exist.
 */
final class SetStatistics(file: StatisticsFile) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    base.snapshot(file.snapshotId)
    val isRegistered = base.statistics.contains(file)
    Change(if (isRegistered) Vector.empty else Vector(MetadataUpdate.SetStatistics(file)), Vector.empty)
  }
}

/** Removes the statistics of a snapshot from the metadata; the file is not deleted. */
final class RemoveStatistics(snapshotId: Long) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val exists = base.statistics.exists(_.snapshotId == snapshotId)
    Change(if (exists) Vector(MetadataUpdate.RemoveStatistics(snapshotId)) else Vector.empty, Vector.empty)
  }
}
