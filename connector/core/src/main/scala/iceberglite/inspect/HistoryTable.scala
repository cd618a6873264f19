package iceberglite.inspect

import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{BooleanType, LongType, TimestampTzType}
import iceberglite.table.Table

/**
 * The snapshot log of the table. Each row contains a time at which a snapshot became the current snapshot. After a
 * rollback, some of these snapshots are not ancestors of the current snapshot.
 */
object HistoryTable extends MetadataTable {
  override val name = "history"
  override val showsOneSnapshot = false

  private val columns = Schema(
    0,
    Vector(
      NestedField.required(1, "made_current_at", TimestampTzType),
      NestedField.required(2, "snapshot_id", LongType),
      NestedField.optional(3, "parent_id", LongType),
      NestedField.required(4, "is_current_ancestor", BooleanType)
    )
  )

  override def schema(table: Table): Schema = columns

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] = {
    val metadata = table.metadata
    val ancestors = metadata.currentSnapshot.fold(Set.empty[Long])(metadata.ancestors(_).map(_.snapshotId).toSet)
    metadata.snapshotLog.iterator.map { e =>
      MetadataRow.of(
        Micros.ofMillis(e.timestampMs),
        e.snapshotId,
        metadata.snapshotsById.get(e.snapshotId).flatMap(_.parentSnapshotId),
        ancestors(e.snapshotId)
      )
    }
  }
}
