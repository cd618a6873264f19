package iceberglite.inspect

import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.schema.Schema
import iceberglite.table.Table
import iceberglite.tree.SnapshotFiles

/** The manifests of a snapshot. In version 4, they include the root. */
object ManifestsTable extends MetadataTable with ManifestRows {
  override val name = "manifests"
  override val showsOneSnapshot = true

  override def schema(table: Table): Schema = columns(table.metadata)

  override def columns(metadata: TableMetadata): Schema =
    Schema(0, if (ManifestColumns.hasLevels(metadata)) ManifestColumns.ofTree else ManifestColumns.ofSnapshot)

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] =
    select(table, snapshot, RowRequest.all(schema(table)))

  /** Returns a single group, because a manifest list is read as a whole. */
  override def groups(table: Table, snapshot: Option[Snapshot], request: RowRequest): Option[Vector[MetadataRows]] =
    Some(snapshot.toVector.map { s =>
      def size() = SnapshotManifestRows.rootLength(table.io, s)
      new SnapshotManifestRows(table.name, table.io, table.metadata, s, this, request, () => size())
    })

  override def valuesOf(metadata: TableMetadata, files: SnapshotFiles): Iterator[Vector[Any]] = {
    val values = new ManifestValues(metadata, files)
    if (ManifestColumns.hasLevels(metadata)) values.ofTree.iterator else files.manifests.iterator.map(values.ofSnapshot)
  }
}
