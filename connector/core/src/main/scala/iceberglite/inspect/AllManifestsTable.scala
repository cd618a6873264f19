package iceberglite.inspect

import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{BinaryType, LongType}
import iceberglite.table.Table
import iceberglite.tree.SnapshotFiles

/**
 * The manifests of all snapshots. A manifest that belongs to several snapshots has one row for each of them. In format
 * version 4, the roots, which replace the manifest lists, are included.
 */
object AllManifestsTable extends GroupedTable with ManifestRows {
  override val name = "all_manifests"
  override val showsOneSnapshot = false

  private lazy val withoutLevel = Schema(
    0,
    ManifestColumns.ofAllManifests ++ Vector(
      NestedField.required(18, "reference_snapshot_id", LongType),
      NestedField.optional(19, "key_metadata", BinaryType)
    )
  )

  override def schema(table: Table): Schema = columns(table.metadata)

  override def columns(metadata: TableMetadata): Schema =
    if (ManifestColumns.hasLevels(metadata)) Schema(0, withoutLevel.fields :+ ManifestColumns.Level) else withoutLevel

  /**
   * Returns a group for each snapshot. The length of the newest manifest list is used as the number of bytes of each
   * group, because a request to the storage for each snapshot would take long.
   */
  override def groupsOf(table: Table, snapshot: Option[Snapshot], request: RowRequest): Vector[MetadataRows] = {
    val snapshots = table.metadata.snapshots
    lazy val newest = snapshots.lastOption.fold(0L)(SnapshotManifestRows.rootLength(table.io, _))
    snapshots.map { s =>
      new SnapshotManifestRows(table.name, table.io, table.metadata, s, this, request, () => newest)
    }
  }

  /** Returns the values. The key metadata of a manifest contains its key, so it is not shown. */
  override def valuesOf(metadata: TableMetadata, files: SnapshotFiles): Iterator[Vector[Any]] = {
    val values = new ManifestValues(metadata, files)
    val id = files.snapshot.snapshotId
    if (ManifestColumns.hasLevels(metadata)) values.ofAllLevels.iterator.map { case (row, level) =>
      row ++ Vector[Any](id, None, level)
    }
    else files.manifests.iterator.map(m => values.ofAllManifests(m) ++ Vector[Any](id, None))
  }
}
