package iceberglite.table.action

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.MetadataUpdate.UpgradeFormatVersion
import iceberglite.spec.{FormatVersion, TableMetadata}
import iceberglite.table.{Change, CommitContext}

/** Takes the table up to a newer version of the format. */
final class UpgradeVersion(version: FormatVersion) extends MetadataAction {
  override def describe(base: TableMetadata, context: CommitContext): Change = {
    if (version < base.formatVersion) {
      throw InvalidArgument(
        "format-version",
        version.toString,
        s"${context.table} has version ${base.formatVersion}, and versions only go up"
      )
    }
    Change(if (version == base.formatVersion) Vector.empty else Vector(UpgradeFormatVersion(version)), Vector.empty)
  }
}
