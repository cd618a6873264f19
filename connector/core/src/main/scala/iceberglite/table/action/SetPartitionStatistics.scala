package iceberglite.table.action

import iceberglite.spec.metadata.{PartitionStatisticsFile, TableMetadata}
import iceberglite.spec.update.MetadataUpdate
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Registers a file with the partition statistics of a snapshot (spec: "Partition Statistics"). A snapshot has at most
 * one partition statistics file, so an earlier file is replaced. The commit fails only if the snapshot does not exist.
 */
final class SetPartitionStatistics(file: PartitionStatisticsFile) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    base.snapshot(file.snapshotId)
    val isRegistered = base.partitionStatistics.contains(file)
    Change(if (isRegistered) Vector.empty else Vector(MetadataUpdate.SetPartitionStatistics(file)), Vector.empty)
  }
}

/** Removes the partition statistics of a snapshot from the metadata; the file is not deleted. */
final class RemovePartitionStatistics(snapshotId: Long) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val exists = base.partitionStatistics.exists(_.snapshotId == snapshotId)
    Change(if (exists) Vector(MetadataUpdate.RemovePartitionStatistics(snapshotId)) else Vector.empty, Vector.empty)
  }
}
