package iceberglite.tree

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.Schema
import iceberglite.storage.FileIO

/**
 * The properties of a table that are needed to read and write its metadata trees.
 *
 * @param name the full name including the catalog, for messages
 * @param schema the table's schema, or the schema of an old snapshot; it determines the types of partition values
 */
final case class TreeTable(name: String, io: FileIO, metadata: TableMetadata, schema: Schema) {

  /** The partition specs of all files, with the source columns of their values. */
  lazy val specs: PartitionSpecs = PartitionSpecs.of(metadata, schema)
}

object TreeTable {

  /** Returns the table with its current schema. */
  def apply(name: String, io: FileIO, metadata: TableMetadata): TreeTable =
    TreeTable(name, io, metadata, metadata.schema)
}
