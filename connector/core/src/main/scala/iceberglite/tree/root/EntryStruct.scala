package iceberglite.tree.root

import iceberglite.data.Record
import iceberglite.spec.file.{EntryStatus, FileFormat}
import iceberglite.tree.root.RecordCodec.{Bytes, Int32, Int64, ListOf, StructOf, Text}
import iceberglite.tree.root.VectorContent.{InPuffin, Inline}

/** The struct `version_info`. */
private object VersionInfoStruct extends RecordStruct[VersionInfo] {
  private val Status = required(0, "status", Int32)(_.status.code)
  private val SnapshotId = optional(1, "snapshot_id", Int64)(_.snapshotId)
  private val SequenceNumber = optional(3, "sequence_number", Int64)(_.sequenceNumber)
  private val FileSequenceNumber = optional(4, "file_sequence_number", Int64)(_.fileSequenceNumber)

  def fromRecord(row: Record): VersionInfo = VersionInfo(
    statusOf(Status.value(row)),
    SnapshotId.option(row),
    SequenceNumber.option(row),
    FileSequenceNumber.option(row)
  )

  private val byCode = EntryStatus.all.sortBy(_.code).toArray

  private def statusOf(code: Int): EntryStatus =
    if (code >= 0 && code < byCode.length) byCode(code) else throw EntryFault(s"An entry has the unknown status $code")
}

/** The struct `deletion_vector`. */
private object VectorStruct extends RecordStruct[VectorContent] {
  private def puffin(content: VectorContent): Option[InPuffin] = content match {
    case stored: InPuffin => Some(stored)
    case _: Inline => None
  }

  private val Offset = optional(144, "offset", Int64)(puffin(_).map(_.offset))
  private val Size = optional(145, "size_in_bytes", Int64)(puffin(_).map(_.size))
  private val InlineContent = optional(146, "inline_content", Bytes) {
    case Inline(bytes) => Some(bytes)
    case _: InPuffin => None
  }

  def fromRecord(row: Record): VectorContent = (Offset.option(row), Size.option(row), InlineContent.option(row)) match {
    case (Some(offset), Some(size), None) => InPuffin(offset, size)
    case (None, None, Some(bytes)) => Inline(bytes)
    case (offset, size, inline) => throw EntryFault(
        "A deletion vector must have either an offset and a size or inline content, but has " +
          Seq(offset.map(n => s"the offset $n"), size.map(n => s"the size $n"), inline.map(_ => "inline content"))
            .flatten.mkString("", ", ", "").replaceAll("^$", "none of them")
      )
  }
}

/** The struct `manifest_stats`. */
private object ManifestStatsStruct extends RecordStruct[ManifestStats] {
  private val AddedFiles = optional(504, "added_files_count", Int32)(m => Some(m.addedFiles))
  private val ExistingFiles = optional(505, "existing_files_count", Int32)(m => Some(m.existingFiles))
  private val DeletedFiles = optional(506, "deleted_files_count", Int32)(m => Some(m.deletedFiles))
  private val AddedRows = optional(512, "added_rows_count", Int64)(m => Some(m.addedRows))
  private val ExistingRows = optional(513, "existing_rows_count", Int64)(m => Some(m.existingRows))
  private val DeletedRows = optional(514, "deleted_rows_count", Int64)(m => Some(m.deletedRows))
  private val MinSequenceNumber = optional(516, "min_sequence_number", Int64)(m => Some(m.minSequenceNumber))

  def fromRecord(row: Record): ManifestStats = ManifestStats(
    AddedFiles.value(row),
    ExistingFiles.value(row),
    DeletedFiles.value(row),
    AddedRows.value(row),
    ExistingRows.value(row),
    DeletedRows.value(row),
    MinSequenceNumber.value(row)
  )
}

/** The rows of a version 4 manifest. @param columns the columns and expressions with statistics */
final private[root] class EntryStruct(columns: StatsColumns) extends RecordStruct[ContentEntry] {
  private val statsStruct = new ContentStatsStruct(columns)

  private val Content = required(134, "content_type", Int32)(_.content.code)
  private val Location = required(100, "location", Text)(_.location)
  private val Format = required(101, "file_format", Text)(_.format.name)
  private val Version =
    optional(5, "version_info", new StructOf(VersionInfoStruct, VersionInfoStruct.fromRecord))(e => Some(e.version))
  private val Bitmap = optional(147, "deletion_vector", new StructOf(VectorStruct, VectorStruct.fromRecord))(_.vector)
  private val SpecId = required(148, "partition_spec_id", Int32)(_.specId)
  private val SortOrderId = optional(140, "sort_order_id", Int32)(_.sortOrderId)
  private val RecordCount = required(103, "record_count", Int64)(_.recordCount)
  private val FileSize = optional(104, "file_size_in_bytes", Int64)(_.fileSizeInBytes)

  // A reader of a struct without fields would have to read other columns to find out whether the struct is null.
  private val Stats =
    if (columns.all.isEmpty) None
    else
      Some(optional(EntryStruct.StatsId, EntryStruct.StatsName, new StructOf(statsStruct, statsStruct.fromRecord))(e =>
        Some(e.stats).filter(_.byId.nonEmpty)
      ))
  private val Manifest =
    optional(521, "manifest_stats", new StructOf(ManifestStatsStruct, ManifestStatsStruct.fromRecord))(
      _.manifest
    )
  private val ReferencedFile = optional(143, "referenced_file", Text)(_.referencedFile)
  private val KeyMetadata = optional(131, "key_metadata", Bytes)(_.keyMetadata)
  private val SplitOffsets =
    optional(132, "split_offsets", new ListOf(133, Int64))(e => Some(e.splitOffsets).filter(_.nonEmpty))
  private val EqualityIds =
    optional(135, "equality_ids", new ListOf(136, Int32))(e => Some(e.equalityIds).filter(_.nonEmpty))
  private val FirstRowId = optional(142, "first_row_id", Int64)(_.firstRowId)

  /** @throws EntryFault if a value is invalid */
  def fromRecord(row: Record): ContentEntry = ContentEntry(
    content = contentOf(Content.value(row)),
    location = Location.value(row),
    format = formatOf(Format.value(row)),
    version = Version.value(row),
    specId = SpecId.value(row),
    recordCount = RecordCount.value(row),
    fileSizeInBytes = FileSize.option(row),
    stats = Stats.flatMap(_.option(row)).getOrElse(ContentStats.Empty),
    vector = Bitmap.option(row),
    sortOrderId = SortOrderId.option(row),
    manifest = Manifest.option(row),
    referencedFile = ReferencedFile.option(row),
    keyMetadata = KeyMetadata.option(row),
    splitOffsets = SplitOffsets.option(row).getOrElse(Vector.empty),
    equalityIds = EqualityIds.option(row).getOrElse(Vector.empty),
    firstRowId = FirstRowId.option(row)
  )

  private def contentOf(code: Int): EntryContent =
    if (code >= 0 && code < EntryStruct.contents.length) EntryStruct.contents(code)
    else throw EntryFault(s"An entry has the unknown content type $code")

  private def formatOf(name: String): FileFormat =
    FileFormat.parse(name).getOrElse(throw EntryFault(s"An entry has the unknown file format $name"))
}

private[root] object EntryStruct {

  /** The field id of the struct of statistics. */
  val StatsId = 149
  val StatsName = "content_stats"

  /** The contents of entries, by their codes. */
  private val contents = EntryContent.all.sortBy(_.code).toArray
}
