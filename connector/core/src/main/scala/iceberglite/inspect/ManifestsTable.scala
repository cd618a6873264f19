package iceberglite.inspect

import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.table.Table
import iceberglite.tree.MetadataTree

/** The manifests of a snapshot. In version 4, they include the root. */
object ManifestsTable extends MetadataTable {
  override val name = "manifests"
  override val showsOneSnapshot = true

  override def schema(table: Table): Schema =
    Schema(0, if (hasLevels(table)) ManifestColumns.ofTree else ManifestColumns.ofSnapshot)

  private def hasLevels(table: Table): Boolean = ManifestColumns.hasLevels(table.metadata)

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] = {
    val trees = snapshot.iterator.map(MetadataTree.at(_, table.tree()))
    trees.flatMap { files =>
      val values = new ManifestValues(table.metadata, files)
      val rows = if (hasLevels(table)) values.ofTree else files.manifests.map(values.ofSnapshot)
      rows.iterator.map(MetadataRow(_))
    }
  }
}
