package iceberglite.inspect

import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{BinaryType, LongType}
import iceberglite.table.Table
import iceberglite.tree.{MetadataTree, SnapshotFiles}

/**
 * The manifests of all snapshots. A manifest that belongs to several snapshots has one row for each of them. In version
 * 4, the roots are included.
 */
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

  override def schema(table: Table): Schema =
    if (ManifestColumns.hasLevels(table.metadata)) Schema(0, columns.fields :+ ManifestColumns.Level) else columns

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] = {
    val tree = table.tree()
    for {
      s <- table.metadata.snapshots.iterator
      files = MetadataTree.at(s, tree)
      values = new ManifestValues(table.metadata, files)
      row <- if (ManifestColumns.hasLevels(table.metadata)) levels(values, s) else manifests(values, files, s)
    } yield MetadataRow(row)
  }

  private def manifests(values: ManifestValues, files: SnapshotFiles, s: Snapshot): Iterator[Vector[Any]] =
    files.manifests.iterator.map(m => values.ofAllManifests(m) ++ Vector[Any](s.snapshotId, m.keyMetadata))

  private def levels(values: ManifestValues, s: Snapshot): Iterator[Vector[Any]] =
    values.ofAllLevels.iterator.map { case (row, key, level) => row ++ Vector[Any](s.snapshotId, key, level) }
}
