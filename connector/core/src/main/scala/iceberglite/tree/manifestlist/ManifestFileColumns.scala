package iceberglite.tree.manifestlist

import iceberglite.avro.{AvroFault, AvroRow, StructColumn, StructColumns}
import iceberglite.avro.ColumnType.{Bytes, Int32, Int64, Structs, Text}
import iceberglite.avro.Presence.{Absent, Optional, Required}
import iceberglite.spec.file.{ManifestContent, ManifestFile}

/**
 * The struct `manifest_file`, which is a row of a manifest list (spec: "Manifest Lists"; spec version 3 added the field
 * 520).
 */
private[iceberglite] object ManifestFileColumns extends StructColumns[ManifestFile]("manifest_file") {
  private val Path =
    column(500, "manifest_path", Text, Required, Required, Required, "Location of the manifest")(m => Some(m.path))
  private val Length =
    column(501, "manifest_length", Int64, Required, Required, Required, "Length of the manifest in bytes")(m =>
      Some(m.length)
    )
  private val SpecId =
    column(502, "partition_spec_id", Int32, Required, Required, Required, "Partition spec of the manifest")(m =>
      Some(m.partitionSpecId)
    )
  private val Content =
    column(517, "content", Int32, Absent, Required, Required, "What the manifest lists: 0 data, 1 deletes")(m =>
      Some(m.content.code)
    )
  private val SequenceNumber =
    column(515, "sequence_number", Int64, Absent, Required, Required, "Sequence number that added the manifest")(m =>
      Some(m.sequenceNumber)
    )
  private val MinSequenceNumber = column(
    516,
    "min_sequence_number",
    Int64,
    Absent,
    Required,
    Required,
    "Lowest data sequence number of the manifest's live files"
  )(m => Some(m.minSequenceNumber))
  private val AddedSnapshotId =
    column(503, "added_snapshot_id", Int64, Required, Required, Required, "Snapshot that added the manifest")(m =>
      Some(m.addedSnapshotId)
    )
  private val AddedFiles =
    column(504, "added_files_count", Int32, Optional, Required, Required, "Entries that are ADDED")(_.addedFilesCount)
  private val ExistingFiles =
    column(505, "existing_files_count", Int32, Optional, Required, Required, "Entries that are EXISTING")(
      _.existingFilesCount
    )
  private val DeletedFiles =
    column(506, "deleted_files_count", Int32, Optional, Required, Required, "Entries that are DELETED")(
      _.deletedFilesCount
    )
  private val AddedRows =
    column(512, "added_rows_count", Int64, Optional, Required, Required, "Rows of the files that are ADDED")(
      _.addedRowsCount
    )
  private val ExistingRows =
    column(513, "existing_rows_count", Int64, Optional, Required, Required, "Rows of the files that are EXISTING")(
      _.existingRowsCount
    )
  private val DeletedRows =
    column(514, "deleted_rows_count", Int64, Optional, Required, Required, "Rows of the files that are DELETED")(
      _.deletedRowsCount
    )
  private val Partitions = column(
    507,
    "partitions",
    new Structs(508, FieldSummaryColumns, FieldSummaryColumns.fromRow),
    Optional,
    Optional,
    Optional,
    "Summary of each partition field, in the order of the spec"
  )(_.partitions)
  private val KeyMetadata =
    column(519, "key_metadata", Bytes, Optional, Optional, Optional, "Key metadata for encryption")(_.keyMetadata)
  private val FirstRowId = column(
    520,
    "first_row_id",
    Int64,
    Absent,
    Absent,
    Optional,
    "First row id for files without one of their own"
  )(_.firstRowId)

  /**
   * Returns the manifest that a row describes. If a row of version 1 omits the content and the sequence numbers, they
   * are 0 (spec: "Appendix E").
   *
   * @throws AvroFault if a value is invalid
   */
  def fromRow(row: AvroRow): ManifestFile = {
    nonNegativeColumns.foreach(c =>
      if (row.number(c) < 0) {
        throw AvroFault(
          s"The ${c.name} (field ${c.id}) of ${row.value(Path)} must not be negative, but is ${row.number(c)}"
        )
      }
    )
    manifest(row)
  }

  private lazy val nonNegativeColumns: Seq[StructColumn[ManifestFile, _]] = Seq(
    Length,
    SequenceNumber,
    AddedFiles,
    ExistingFiles,
    DeletedFiles,
    FirstRowId
  )

  /**
   * Returns a row count of the manifest; absent if it is negative. A writer writes a negative sum if the manifest lists
   * files whose row count is [[ContentFile.UnknownRecords]].
   */
  private def rows(row: AvroRow, column: StructColumn[ManifestFile, Long]): Option[Long] =
    row.longOption(column).filter(_ >= 0)

  private def manifest(row: AvroRow): ManifestFile = ManifestFile(
    path = row.value(Path),
    length = row.long(Length),
    partitionSpecId = row.int(SpecId),
    content = content(row.intOption(Content).getOrElse(ManifestContent.Data.code)),
    sequenceNumber = row.number(SequenceNumber),
    // A negative value means that the number is unknown. The value 0 has the same effect.
    minSequenceNumber = math.max(0L, row.number(MinSequenceNumber)),
    addedSnapshotId = row.long(AddedSnapshotId),
    addedFilesCount = row.intOption(AddedFiles),
    existingFilesCount = row.intOption(ExistingFiles),
    deletedFilesCount = row.intOption(DeletedFiles),
    addedRowsCount = rows(row, AddedRows),
    existingRowsCount = rows(row, ExistingRows),
    deletedRowsCount = rows(row, DeletedRows),
    partitions = row.option(Partitions),
    keyMetadata = row.option(KeyMetadata),
    firstRowId = row.longOption(FirstRowId)
  )

  private def content(code: Int): ManifestContent = ManifestContent.all.find(_.code == code).getOrElse(
    throw AvroFault(s"A manifest has the unknown content $code")
  )
}
