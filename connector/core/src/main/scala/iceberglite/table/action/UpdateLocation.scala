package iceberglite.table.action

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.update.MetadataUpdate.SetLocation
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Changes the location in which new files of the table are written. Existing files are not moved. A file-system catalog
 * rejects this change.
 */
final class UpdateLocation(location: String) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val newLocation = location.stripSuffix("/")
    Change(if (newLocation == base.location) Vector.empty else Vector(SetLocation(newLocation)), Vector.empty)
  }
}
