package iceberglite.inspect

import iceberglite.spec.file.ManifestContent
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Type.StructType
import iceberglite.table.Table
import iceberglite.tree.DataFileFields

/**
 * The entries of the manifests of one snapshot or of all snapshots (spec: `manifest_entry`), including the entries with
 * status DELETED.
 *
 * @param scope the snapshots whose entries are shown
 */
final class EntriesTable private (override val name: String, scope: FileScope) extends MetadataTable {
  override def showsOneSnapshot: Boolean = scope == FileScope.OneSnapshot

  override def schema(table: Table): Schema = {
    val file = new ContentFileColumns(new PartitionStruct(table.metadata)).fields
    val fields = Vector(
      DataFileFields.Status,
      DataFileFields.SnapshotId,
      DataFileFields.SequenceNumber,
      DataFileFields.FileSequenceNumber,
      DataFileFields.dataFile(StructType(file))
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
