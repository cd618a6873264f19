package iceberglite.inspect

import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{BinaryType, LongType}
import iceberglite.table.Table
import iceberglite.tree.MetadataTree

/** The manifests of all snapshots. A manifest that belongs to several snapshots has one row for each of them. */
object AllManifestsTable extends MetadataTable {
  override val name = "all_manifests"
  override val showsOneSnapshot = false

  private val columns = Schema(
    0,
    ManifestColumns.ofAllManifests ++ Vector(
      NestedField.required(18, "reference_snapshot_id", LongType),
      NestedField.optional(19, "key_metadata", BinaryType)
    )
  )

  override def schema(table: Table): Schema = columns

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] = {
    val tree = table.tree()
    for {
      s <- table.metadata.snapshots.iterator
      files = MetadataTree.at(s, tree)
      values = new ManifestValues(table.metadata, files)
      m <- files.manifests.iterator
    } yield MetadataRow(values.ofAllManifests(m) ++ Vector(s.snapshotId, m.keyMetadata))
  }
}
