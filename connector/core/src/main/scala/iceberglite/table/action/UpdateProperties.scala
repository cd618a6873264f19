package iceberglite.table.action

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.TableProperty
import iceberglite.spec.update.MetadataUpdate.{RemoveProperties, SetProperties}
import iceberglite.table.{Change, CommitContext, MetadataAction}

/** Sets and removes table properties. Concurrent changes never conflict with this change. */
final class UpdateProperties(set: Map[String, String], remove: Set[String] = Set.empty) extends MetadataAction {
  (set.keySet ++ remove).find(TableProperty.Reserved).foreach { key =>
    throw InvalidArgument("table property key", key, "It is reserved for other metadata and cannot be set directly")
  }
  set.keySet.find(remove).foreach { key =>
    throw InvalidArgument("table property key", key, "It cannot be set and removed in the same commit")
  }
  TableProperty.check(set)

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val changed = set.filterNot { case (key, value) => base.properties.get(key).contains(value) }
    val removed = remove.filter(base.properties.contains)
    val updates =
      Vector(SetProperties(changed)).filter(_.properties.nonEmpty) ++
        Vector(RemoveProperties(removed)).filter(_.keys.nonEmpty)
    Change(updates, Vector.empty)
  }
}
