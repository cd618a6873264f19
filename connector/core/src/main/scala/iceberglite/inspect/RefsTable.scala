package iceberglite.inspect

import java.util.Locale

import iceberglite.spec.metadata.{Snapshot, SnapshotRef}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{IntType, LongType, StringType}
import iceberglite.table.Table

/** The branches and tags of the table. */
object RefsTable extends MetadataTable {
  override val name = "refs"
  override val showsOneSnapshot = false

  private val columns = Schema(
    0,
    Vector(
      NestedField.required(1, "name", StringType),
      NestedField.required(2, "type", StringType),
      NestedField.required(3, "snapshot_id", LongType),
      NestedField.optional(4, "max_reference_age_in_ms", LongType),
      NestedField.optional(5, "min_snapshots_to_keep", IntType),
      NestedField.optional(6, "max_snapshot_age_in_ms", LongType)
    )
  )

  override def schema(table: Table): Schema = columns

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] =
    table.metadata.refs.toVector.sortBy(_._1).iterator.map { case (refName, ref) =>
      val (minToKeep, maxAge) = ref match {
        case b: SnapshotRef.Branch => (b.minSnapshotsToKeep, b.maxSnapshotAgeMs)
        case _: SnapshotRef.Tag => (None, None)
      }
      val kind = ref.kind.toUpperCase(Locale.ROOT)
      MetadataRow.of(refName, kind, ref.snapshotId, ref.maxRefAgeMs, minToKeep, maxAge)
    }
}
