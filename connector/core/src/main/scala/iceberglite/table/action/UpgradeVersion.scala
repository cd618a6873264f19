package iceberglite.table.action

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.{InvalidArgument, ValidationFailed}
import iceberglite.spec.file.ManifestContent
import iceberglite.spec.metadata.{SnapshotRef, TableMetadata}
import iceberglite.spec.update.MetadataUpdate.UpgradeFormatVersion
import iceberglite.table.{Change, CommitContext, MetadataAction}
import iceberglite.table.conflict.BranchHistory
import iceberglite.tree.PartFilter

/** Upgrades the table to a newer format version. */
final class UpgradeVersion(version: FormatVersion) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    if (version < base.formatVersion) {
      throw InvalidArgument(
        "format-version",
        version.toString,
        s"The table ${context.table} has format version ${base.formatVersion}, which cannot be lowered"
      )
    }
    if (version >= FormatVersion.V3 && base.formatVersion < FormatVersion.V3) checkCounts(base, context)
    Change(if (version == base.formatVersion) Vector.empty else Vector(UpgradeFormatVersion(version)), Vector.empty)
  }

  /**
   * Checks that the row counts of all live data files are known, because version 3 assigns row ids according to these
   * counts (spec version 3: "Row lineage"). If a count is unknown, every later commit to the branch would fail.
   */
  private def checkCounts(base: TableMetadata, context: CommitContext): Unit = {
    val heads = base.refs.values.collect { case b: SnapshotRef.Branch => base.snapshot(b.snapshotId) }.toVector.distinct
    heads.foreach { head =>
      new BranchHistory(base, Some(head), context).liveEntries(ManifestContent.Data, PartFilter.All)(
        !_.file.hasRecordCount
      ).headOption
        .foreach { e =>
          throw ValidationFailed(
            s"Cannot upgrade ${context.table} to version $version, which assigns an id to every row: the manifest " +
              s"entry of ${e.file.path} has the invalid row count ${e.file.recordCount}. Delete or overwrite the " +
              "rows of its partition, so that the file is removed, and then upgrade"
          )
        }
    }
  }
}
