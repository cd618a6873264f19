package iceberglite.table.action

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.{InvalidArgument, ValidationFailed}
import iceberglite.spec.file.ManifestContent
import iceberglite.spec.metadata.{SnapshotRef, TableMetadata}
import iceberglite.spec.update.MetadataUpdate.UpgradeFormatVersion
import iceberglite.table.{BranchHistory, Change, CommitContext, MetadataAction}
import iceberglite.tree.PartFilter

/** Upgrades the table to a newer format version. */
final class UpgradeVersion(version: FormatVersion) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    if (version < base.formatVersion) {
      throw InvalidArgument(
        "format-version",
        version.toString,
        s"${context.table} has version ${base.formatVersion}, and versions only go up"
      )
    }
    if (version >= FormatVersion.V3 && base.formatVersion < FormatVersion.V3) checkCounts(base, context)
    Change(if (version == base.formatVersion) Vector.empty else Vector(UpgradeFormatVersion(version)), Vector.empty)
  }

  /**
   * Checks that all row counts are known. Version 3 assigns row ids by these counts (spec version 3: "Row lineage").
   * With a file whose count is unknown, every later commit to its branch would fail.
   */
  private def checkCounts(base: TableMetadata, context: CommitContext): Unit = {
    val heads = base.refs.values.collect { case b: SnapshotRef.Branch => base.snapshot(b.snapshotId) }.toVector.distinct
    heads.foreach { head =>
      new BranchHistory(base, Some(head), context).liveEntries(ManifestContent.Data, PartFilter.All)(
        !_.file.hasRecordCount
      ).headOption
        .foreach { e =>
          throw ValidationFailed(
            s"Cannot upgrade ${context.table} to version $version, which gives every row an id: the entry of " +
              s"${e.file.path} does not count its rows (record_count ${e.file.recordCount}). Delete or overwrite the " +
              "rows of its partition, which takes the file out, then upgrade"
          )
        }
    }
  }
}
