package iceberglite.table.action

import iceberglite.encryption.{FileKey, TableKeys}
import iceberglite.spec.IcebergError.{CommitConflict, ValidationFailed}
import iceberglite.spec.metadata.{Encryption, StatisticsFile, TableMetadata}
import iceberglite.spec.update.MetadataUpdate
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Registers a Puffin file with statistics of a snapshot (spec: "Table Statistics"), and replaces the snapshot's earlier
 * file. The commit fails if the snapshot does not exist, or has another earlier file than expected.
 *
 * @param replaced the path of the file that is replaced, or None for a snapshot without a file; absent if any file may
 *   be replaced
 * @param key the key of the file; absent if the table is not encrypted
 */
final class SetStatistics(
    file: StatisticsFile,
    replaced: Option[Option[String]] = None,
    key: Option[FileKey] = None
) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    base.snapshot(file.snapshotId)
    // The key metadata of a registered file differs from that of this action.
    val isRegistered = base.statistics.exists(_.copy(keyMetadata = file.keyMetadata) == file)
    val existing = base.statistics.find(_.snapshotId == file.snapshotId).map(_.statisticsPath)
    if (!isRegistered && replaced.exists(_ != existing)) throw CommitConflict(
      context.table,
      s"the statistics of the snapshot ${file.snapshotId} were changed by another commit"
    )
    Change(if (isRegistered) Vector.empty else updates(base, context), Vector.empty)
  }

  private def updates(base: TableMetadata, context: CommitContext): Vector[MetadataUpdate] =
    (context.tree(base).keys, key) match {
      case (None, None) => Vector(MetadataUpdate.SetStatistics(file))
      case (Some(keys), Some(ofFile)) =>
        val registered =
          keys.register(ofFile, context.environment.nowMs(), Encryption.statisticsKeyId(file.statisticsPath))
        val added = registered.added.map(MetadataUpdate.AddEncryptionKey(_)) :+
          MetadataUpdate.SetStatistics(file.copy(keyMetadata = Some(registered.keyId)))
        TableKeys.withoutUnusedKeys(base, added, context.environment.nowMs())
      case _ => throw ValidationFailed(
          s"Cannot add ${file.statisticsPath} to ${context.table}: the file is encrypted, or the table is encrypted, " +
            "but not both. Compute the statistics of this table instead"
        )
    }
}

/** Removes the statistics of a snapshot from the metadata; the file is not deleted. */
final class RemoveStatistics(snapshotId: Long) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val exists = base.statistics.exists(_.snapshotId == snapshotId)
    val removal = if (exists) Vector(MetadataUpdate.RemoveStatistics(snapshotId)) else Vector.empty
    Change(TableKeys.withoutUnusedKeys(base, removal, context.environment.nowMs()), Vector.empty)
  }
}
