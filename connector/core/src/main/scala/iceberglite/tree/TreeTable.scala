package iceberglite.tree

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.Schema
import iceberglite.storage.FileIO

/**
 * A table with everything that reading and writing its metadata trees ([[MetadataTree]]) requires.
 *
 * @param name the full name including the catalog, for messages
 * @param schema the table's schema, or the schema of an old snapshot; it determines the types of partition values
 */
final case class TreeTable(name: String, io: FileIO, metadata: TableMetadata, schema: Schema) {

  /** The table's partition specs, with the source columns that determine the types of partition values. */
  lazy val specs: PartitionSpecs = PartitionSpecs.of(metadata, schema)
}

object TreeTable {

  /** Returns the table with its current schema. */
  def apply(name: String, io: FileIO, metadata: TableMetadata): TreeTable =
    TreeTable(name, io, metadata, metadata.schema)
}
