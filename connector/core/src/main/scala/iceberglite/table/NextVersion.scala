package iceberglite.table

import iceberglite.spec.{MetadataLog, MetadataUpdate, TableMetadata, TableProperty}

/**
 * What a committer that keeps metadata files writes next.
 *
 * @param expired metadata files that fell out of the log and are no longer wanted once the commit has happened; the log
 *   may name files of others, so that [[OwnedDeletion]] has to delete them
 */
final case class NextVersion(metadata: TableMetadata, expired: Vector[String])

object NextVersion {

  /**
   * The version after a change.
   *
   * @param table how messages call the table
   * @throws iceberglite.spec.IcebergError.CommitConflict where `base` does not meet the change's requirements
   */
  def of(table: String, base: Option[TableVersion], change: Change, nowMs: Long): NextVersion = {
    change.requirements.foreach(_.check(base.map(_.metadata), table))
    base.fold(NextVersion(MetadataUpdate.create(change.updates, nowMs), Vector.empty)) { version =>
      val before = version.metadata
      val changed = MetadataUpdate.applyAll(before, change.updates, timeAfter(before, nowMs))
      val kept = TableProperty.of(TableProperty.PreviousVersionsMax, changed.properties)
      val next = changed.copy(metadataLog = MetadataLog.append(before, version.metadataLocation, kept))
      val expired =
        if (TableProperty.of(TableProperty.DeleteAfterCommit, next.properties))
          MetadataLog.dropped(before, next)
        else Vector.empty
      NextVersion(next, expired)
    }
  }

  /** The time of a commit on `base`: a clock that lags behind the last writer's must not turn the history around. */
  def timeAfter(base: TableMetadata, nowMs: Long): Long = math.max(nowMs, base.lastUpdatedMs)
}
