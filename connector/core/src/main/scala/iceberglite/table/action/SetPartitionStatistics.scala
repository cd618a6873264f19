package iceberglite.table.action

import iceberglite.spec.{MetadataUpdate, PartitionStatisticsFile, TableMetadata}
import iceberglite.table.{Change, CommitContext}

/**
 * Registers a file with the partition statistics of a snapshot (spec: "Partition Statistics"), which has one at most: it
 * takes the place of the one before. It can be applied as long as there is the snapshot.
 */
final class SetPartitionStatistics(file: PartitionStatisticsFile) extends MetadataAction {
  override def describe(base: TableMetadata, context: CommitContext): Change = {
    base.snapshot(file.snapshotId)
    val same = base.partitionStatistics.contains(file)
    Change(if (same) Vector.empty else Vector(MetadataUpdate.SetPartitionStatistics(file)), Vector.empty)
  }
}

/** Takes the partition statistics of a snapshot out of the metadata; the file stays where it is. */
final class RemovePartitionStatistics(snapshotId: Long) extends MetadataAction {
  override def describe(base: TableMetadata, context: CommitContext): Change = {
    val there = base.partitionStatistics.exists(_.snapshotId == snapshotId)
    Change(if (there) Vector(MetadataUpdate.RemovePartitionStatistics(snapshotId)) else Vector.empty, Vector.empty)
  }
}
