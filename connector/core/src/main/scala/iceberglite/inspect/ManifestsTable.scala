package iceberglite.inspect

import iceberglite.spec.{Schema, Snapshot}
import iceberglite.table.Table
import iceberglite.tree.MetadataTree

/** The manifests of a snapshot. */
object ManifestsTable extends MetadataTable {
  override val name = "manifests"
  override val isOfSnapshot = true

  override def schema(table: Table): Schema = Schema(0, ManifestColumns.ofSnapshot)

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] = {
    val tree = MetadataTree.of(table.io, table.metadata)
    val values = new ManifestValues(table.metadata, tree)
    snapshot.iterator.flatMap(tree.manifests).map(m => MetadataRow(values.ofSnapshot(m)))
  }
}
