package iceberglite.inspect

import iceberglite.spec.metadata.{MetadataLogEntry, Snapshot}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{IntType, LongType, StringType, TimestampTzType}
import iceberglite.table.Table

/**
 * The current metadata file of the table and the previous metadata files in the metadata log. The last row shows the
 * current metadata file. Each row has the snapshot that was current when the file was written.
 */
object MetadataLogEntriesTable extends MetadataTable {
  override val name = "metadata_log_entries"
  override val showsOneSnapshot = false

  private val columns = Schema(
    0,
    Vector(
      NestedField.required(1, "timestamp", TimestampTzType),
      NestedField.required(2, "file", StringType),
      NestedField.optional(3, "latest_snapshot_id", LongType),
      NestedField.optional(4, "latest_schema_id", IntType),
      NestedField.optional(5, "latest_sequence_number", LongType)
    )
  )

  override def schema(table: Table): Schema = columns

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] = {
    val metadata = table.metadata
    val current = MetadataLogEntry(metadata.lastUpdatedMs, table.metadataLocation)
    (metadata.metadataLog :+ current).iterator.map { e =>
      val latest = metadata.snapshotLog.filter(_.timestampMs <= e.timestampMs).lastOption.map(_.snapshotId)
      val latestSnapshot = latest.flatMap(metadata.snapshotsById.get)
      MetadataRow.of(
        Micros.ofMillis(e.timestampMs),
        e.metadataFile,
        latest,
        latestSnapshot.flatMap(_.schemaId),
        latestSnapshot.map(_.sequenceNumber)
      )
    }
  }
}
