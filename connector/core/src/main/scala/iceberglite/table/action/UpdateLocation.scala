package iceberglite.table.action

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.update.MetadataUpdate.SetLocation
import iceberglite.table.{Change, CommitContext, MetadataAction}

/** Changes the location for new files; existing files stay. A file-system catalog rejects it. */
final class UpdateLocation(location: String) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val wanted = location.stripSuffix("/")
    Change(if (wanted == base.location) Vector.empty else Vector(SetLocation(wanted)), Vector.empty)
  }
}
