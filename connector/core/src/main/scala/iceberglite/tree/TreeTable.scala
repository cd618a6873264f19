package iceberglite.tree

import iceberglite.io.FileIO
import iceberglite.spec.{Schema, TableMetadata}

/**
 * A table as its metadata trees see it.
 *
 * @param name the full name with the catalog's, for messages
 * @param schema gives partition values their types; the table's, or that of an old snapshot
 */
final case class TreeTable(name: String, io: FileIO, metadata: TableMetadata, schema: Schema) {

  /** The partition specs of all files, with the columns that their values come from. */
  lazy val specs: PartitionSpecs = PartitionSpecs.of(metadata, schema)
}

object TreeTable {

  /** With the table's current schema. */
  def apply(name: String, io: FileIO, metadata: TableMetadata): TreeTable =
    TreeTable(name, io, metadata, metadata.schema)
}
