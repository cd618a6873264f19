package iceberglite.table.action

import iceberglite.spec.IcebergError.CommitConflict
import iceberglite.spec.metadata.{StatisticsFile, TableMetadata}
import iceberglite.spec.update.MetadataUpdate
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Registers a Puffin file with statistics of a snapshot (spec: "Table Statistics"), and replaces the snapshot's earlier
 * file. The commit fails if the snapshot does not exist, or has another earlier file than expected.
 *
 * @param replaced the path of the file that is replaced, or None for a snapshot without a file; absent if any file may
 *   be replaced
 */
final class SetStatistics(file: StatisticsFile, replaced: Option[Option[String]] = None) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    base.snapshot(file.snapshotId)
    val isRegistered = base.statistics.contains(file)
    val existing = base.statistics.find(_.snapshotId == file.snapshotId).map(_.statisticsPath)
    if (!isRegistered && replaced.exists(_ != existing)) throw CommitConflict(
      context.table,
      s"the statistics of the snapshot ${file.snapshotId} were changed by another commit"
    )
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
