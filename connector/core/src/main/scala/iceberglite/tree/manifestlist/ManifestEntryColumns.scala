package iceberglite.tree.manifestlist

import iceberglite.avro.{AvroFault, AvroRow, StructColumn, StructColumns}
import iceberglite.avro.ColumnType.{Int32, Int64, Struct}
import iceberglite.avro.Presence.{Absent, Optional, Required}
import iceberglite.spec.file.ManifestEntry
import iceberglite.spec.types.Type.StructType
import iceberglite.tree.DataFileFields

/**
 * The struct `manifest_entry` (spec: "Manifests").
 *
 * @param partition the partition struct, which depends on the partition spec of the manifest
 */
final private[iceberglite] class ManifestEntryColumns(partition: PartitionCodec)
    extends StructColumns[ManifestEntry]("manifest_entry") {
  private val files = new DataFileColumns(partition)

  private val Status =
    column(DataFileFields.Status, Int32, Required, Required, Required)(e => Some(e.status.code))
  private val SnapshotId =
    column(DataFileFields.SnapshotId, Int64, Required, Optional, Optional)(
      _.snapshotId
    )
  val SequenceNumber: StructColumn[ManifestEntry, Long] =
    column(DataFileFields.SequenceNumber, Int64, Absent, Optional, Optional)(
      _.sequenceNumber
    )
  private val FileSequenceNumber =
    column(DataFileFields.FileSequenceNumber, Int64, Absent, Optional, Optional)(_.fileSequenceNumber)
  private val DataFile =
    column(DataFileFields.dataFile(StructType(Vector.empty)), new Struct(files), Required, Required, Required)(e =>
      Some(e.file)
    )

  /**
   * Returns the entry that a decoded row describes.
   *
   * @param row the row that was just read
   * @param block the Avro block that contains the row
   * @param tuples the partition tuples that were already read from the manifest
   */
  def fromRow(row: AvroRow, block: Array[Byte], tuples: PartitionTuples, inheritance: Inheritance): ManifestEntry = {
    val status = DataFileChecks.status(row.int(Status))
    inheritance.entry(
      status,
      row.longOption(SnapshotId),
      number(row, SequenceNumber),
      number(row, FileSequenceNumber),
      files.fromRow(row.struct(DataFile), block, status, tuples, inheritance)
    )
  }

  private def number(row: AvroRow, column: StructColumn[ManifestEntry, Long]): Option[Long] = {
    if (row.has(column) && row.long(column) < 0) {
      throw AvroFault(s"An entry has the negative ${column.name} (field ${column.id}) ${row.long(column)}")
    }
    row.longOption(column)
  }
}
