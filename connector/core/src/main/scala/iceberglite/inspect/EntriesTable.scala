package iceberglite.inspect

import iceberglite.spec.file.ManifestContent
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{IntType, LongType, StructType}
import iceberglite.table.Table

/**
 * The entries of the manifests of one snapshot or of all snapshots (spec: `manifest_entry`), including the entries of
 * deleted files.
 *
 * @param scope the snapshots whose entries are shown
 */
final class EntriesTable private (override val name: String, scope: FileScope) extends MetadataTable {
  override def showsOneSnapshot: Boolean = scope == FileScope.OneSnapshot

  override def schema(table: Table): Schema = {
    val file = new ContentFileColumns(new PartitionStruct(table.metadata)).fields
    val fields = Vector(
      NestedField.required(0, "status", IntType, "0: existing, 1: added, 2: deleted"),
      NestedField.optional(1, "snapshot_id", LongType, "The snapshot that added or deleted the file"),
      NestedField.optional(3, "sequence_number", LongType, "Data sequence number"),
      NestedField.optional(4, "file_sequence_number", LongType, "File sequence number"),
      NestedField.required(2, "data_file", StructType(file))
    )
    Schema(0, fields :+ new ReadableMetrics(table.schema).field(ContentFileColumns.idsAbove(fields)))
  }

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] = {
    val columns = new ContentFileColumns(new PartitionStruct(table.metadata))
    val readable = new ReadableMetrics(table.schema)
    scope.entries(table, snapshot, ManifestContent.all).map { e =>
      MetadataRow.of(
        e.status.code,
        e.snapshotId,
        e.sequenceNumber,
        e.fileSequenceNumber,
        MetadataRow(columns.values(e.file)),
        readable.value(e.file)
      )
    }
  }
}

object EntriesTable {
  val all: Seq[EntriesTable] = Seq(
    new EntriesTable("entries", FileScope.OneSnapshot),
    new EntriesTable("all_entries", FileScope.AllSnapshots)
  )
}
