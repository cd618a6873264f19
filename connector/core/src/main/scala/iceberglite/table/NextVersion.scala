package iceberglite.table

import iceberglite.spec.json.TableMetadataJson
import iceberglite.spec.metadata.{MetadataLog, TableMetadata}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.update.MetadataUpdate

/**
 * The next metadata of a table, for committers that write metadata files themselves.
 *
 * @param expired metadata files that were removed from the metadata log and can be deleted after the commit. Callers
 *   must delete these files with [[OwnedDeletion]], because the log may name files of other tables
 */
final case class NextVersion(metadata: TableMetadata, expired: Vector[String])

object NextVersion {

  /**
   * Returns the version after a change.
   *
   * @param table the table's name in messages
   * @throws iceberglite.spec.IcebergError.CommitConflict if `base` does not meet the change's requirements
   */
  def of(table: String, base: Option[TableVersion], change: Change, nowMs: Long): NextVersion = {
    change.requirements.foreach(_.check(base.map(_.metadata), table))
    base.fold(NextVersion(MetadataUpdate.create(change.updates, nowMs), Vector.empty)) { version =>
      val before = version.metadata
      val changed = MetadataUpdate.applyAll(before, change.updates, commitTime(before, nowMs))
      val maxPrevious = TableProperty.of(TableProperty.PreviousVersionsMax, changed.properties)
      val next = MetadataLog.extend(changed, before, version.metadataLocation, maxPrevious)
      val expired =
        if (TableProperty.of(TableProperty.DeleteAfterCommit, next.properties))
          MetadataLog.removedFiles(before, next)
        else Vector.empty
      NextVersion(TableMetadataJson.withSnapshotJson(next), expired)
    }
  }

  /**
   * Returns the timestamp of a commit on `base`. The timestamp is never before that of the last update, even if the
   * clock of this machine is behind the clock of the previous writer.
   */
  def commitTime(base: TableMetadata, nowMs: Long): Long = math.max(nowMs, base.lastUpdatedMs)
}
