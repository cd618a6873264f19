package iceberglite.table.action

import iceberglite.spec.{MetadataUpdate, StatisticsFile, TableMetadata}
import iceberglite.table.{Change, CommitContext}

/**
 * Registers a Puffin file with statistics of a snapshot (spec: "Table Statistics"), in the place of the one that the
 * snapshot had. It can be applied as long as there is the snapshot.
 */
final class SetStatistics(file: StatisticsFile) extends MetadataAction {
  override def describe(base: TableMetadata, context: CommitContext): Change = {
    base.snapshot(file.snapshotId)
    val same = base.statistics.contains(file)
    Change(if (same) Vector.empty else Vector(MetadataUpdate.SetStatistics(file)), Vector.empty)
  }
}

/** Takes the statistics of a snapshot out of the metadata; the file stays where it is. */
final class RemoveStatistics(snapshotId: Long) extends MetadataAction {
  override def describe(base: TableMetadata, context: CommitContext): Change = {
    val there = base.statistics.exists(_.snapshotId == snapshotId)
    Change(if (there) Vector(MetadataUpdate.RemoveStatistics(snapshotId)) else Vector.empty, Vector.empty)
  }
}
