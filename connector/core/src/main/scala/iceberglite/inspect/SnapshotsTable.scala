package iceberglite.inspect

import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{LongType, MapType, StringType, TimestampTzType}
import iceberglite.table.Table

/** The snapshots in the table's metadata, in the order in which the metadata file lists them. */
object SnapshotsTable extends MetadataTable {
  override val name = "snapshots"
  override val showsOneSnapshot = false

  private val columns = Schema(
    0,
    Vector(
      NestedField.required(1, "committed_at", TimestampTzType),
      NestedField.required(2, "snapshot_id", LongType),
      NestedField.optional(3, "parent_id", LongType),
      NestedField.optional(4, "operation", StringType),
      NestedField.optional(5, "manifest_list", StringType),
      NestedField.optional(6, "summary", MapType(7, StringType, 8, StringType, valueRequired = true))
    )
  )

  override def schema(table: Table): Schema = columns

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] =
    table.metadata.snapshots.iterator.map { s =>
      MetadataRow.of(
        Micros.ofMillis(s.timestampMs),
        s.snapshotId,
        s.parentSnapshotId,
        s.operation,
        s.manifestList,
        Some(s.summary - Snapshot.OperationKey)
      )
    }
}

private[inspect] object Micros {
  def ofMillis(millis: Long): Long = Math.multiplyExact(millis, 1000L)
}
