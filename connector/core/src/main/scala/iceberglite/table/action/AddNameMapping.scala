package iceberglite.table.action

import iceberglite.spec.json.NameMappingJson
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.NameMapping
import iceberglite.spec.update.MetadataUpdate.SetProperties
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Sets the table's name mapping to the current names of its columns, so that files without field ids can be read (spec:
 * "Column Projection"). An existing name mapping is kept.
 */
final class AddNameMapping extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val key = TableProperty.NameMappingDefault.key
    val updates =
      if (base.properties.contains(key)) Vector.empty
      else Vector(SetProperties(Map(key -> NameMappingJson.toJson(NameMapping.of(base.schema)))))
    Change(updates, Vector.empty)
  }
}
