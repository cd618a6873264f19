package iceberglite.inspect

import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.schema.Schema
import iceberglite.table.Table
import iceberglite.tree.SnapshotFiles

/** The manifests of a snapshot. In format version 4, they include the root, which replaces the manifest list. */
object ManifestsTable extends GroupedTable with ManifestRows {
  override val name = "manifests"
  override val showsOneSnapshot = true

  override def schema(table: Table): Schema = columns(table.metadata)

  override def columns(metadata: TableMetadata): Schema =
    Schema(0, if (ManifestColumns.hasLevels(metadata)) ManifestColumns.ofTree else ManifestColumns.ofSnapshot)

  /** Returns a single group, because a manifest list is read as a whole. */
  override def groupsOf(table: Table, snapshot: Option[Snapshot], request: RowRequest): Vector[MetadataRows] =
    snapshot.toVector.map { s =>
      val (io, size) = (table.io, () => SnapshotManifestRows.rootLength(table.io, s))
      new SnapshotManifestRows(table.name, io, table.metadata, s, this, request, size)
    }

  override def valuesOf(metadata: TableMetadata, files: SnapshotFiles): Iterator[Vector[Any]] = {
    val values = new ManifestValues(metadata, files)
    if (ManifestColumns.hasLevels(metadata)) values.ofTree.iterator else files.manifests.iterator.map(values.ofSnapshot)
  }
}
