package iceberglite.inspect

import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.table.Table
import iceberglite.tree.MetadataTree

/** The manifests of a snapshot. */
object ManifestsTable extends MetadataTable {
  override val name = "manifests"
  override val showsOneSnapshot = true

  override def schema(table: Table): Schema = Schema(0, ManifestColumns.ofSnapshot)

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] = {
    val files = snapshot.iterator.map(MetadataTree.at(_, table.tree()))
    files.flatMap(f => f.manifests.iterator.map(m => MetadataRow(new ManifestValues(table.metadata, f).ofSnapshot(m))))
  }
}
