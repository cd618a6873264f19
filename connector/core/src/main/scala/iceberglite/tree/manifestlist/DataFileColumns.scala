package iceberglite.tree.manifestlist

import iceberglite.avro.{AvroFault, AvroRow, ColumnType, StructColumn, StructColumns}
import iceberglite.avro.ColumnType.{Bytes, Int32, Int64, Text}
import iceberglite.avro.Presence.{Absent, Optional, Required}
import iceberglite.spec.file.{Content, ContentFile, EntryStatus, FileFormat, Metrics}
import iceberglite.spec.partition.PartitionTuple

/**
 * The struct `data_file` (spec: "Manifests"; spec version 3 added the fields 142 to 145). The fields 106
 * `file_ordinal`, 107 `sort_columns` and 111 `distinct_counts` are deprecated and must not be written. The field id 141
 * is reserved. A reader skips all of these fields.
 *
 * @param partition the partition struct, which depends on the partition spec of the manifest
 */
final private[iceberglite] class DataFileColumns(partition: PartitionCodec)
    extends StructColumns[ContentFile]("data_file") {
  private val FileContent =
    column(134, "content", Int32, Absent, Required, Required, "0 data, 1 position deletes, 2 equality deletes")(f =>
      Some(f.content.code)
    )
  private val Path =
    column(100, "file_path", Text, Required, Required, Required, "Location of the file, with scheme")(f => Some(f.path))
  private val Format =
    column(101, "file_format", FormatColumn, Required, Required, Required, "Format: avro, orc, parquet or puffin")(f =>
      Some(f.format)
    )
  private val Partition: StructColumn[ContentFile, PartitionTuple] =
    column(102, "partition", partition, Required, Required, Required, "Partition tuple, by the manifest's spec")(f =>
      Some(f.partition)
    )
  private val RecordCount =
    column(103, "record_count", Int64, Required, Required, Required, "Rows in the file")(f => Some(f.recordCount))
  private val FileSize =
    column(104, "file_size_in_bytes", Int64, Required, Required, Required, "Length of the file in bytes")(f =>
      Some(f.fileSizeInBytes)
    )

  /** The field is deprecated, but version 1 requires a value (spec: "Always write a default in v1"). */
  column(105, "block_size_in_bytes", Int64, Required, Absent, Absent, "Deprecated: always the same")(_ =>
    Some(DataFileColumns.BlockSize)
  )
  private val ColumnSizes =
    metricsColumn(108, MetricsMap.ColumnSizes, 117, 118, "Bytes of each column in the file")
  private val ValueCounts =
    metricsColumn(109, MetricsMap.ValueCounts, 119, 120, "Values of each column, including null and NaN")
  private val NullValueCounts =
    metricsColumn(110, MetricsMap.NullValueCounts, 121, 122, "Nulls of each column")
  private val NanValueCounts =
    metricsColumn(137, MetricsMap.NanValueCounts, 138, 139, "NaNs of each column")
  private val LowerBounds =
    metricsColumn(125, MetricsMap.LowerBounds, 126, 127, "Lower bound of each column")
  private val UpperBounds =
    metricsColumn(128, MetricsMap.UpperBounds, 129, 130, "Upper bound of each column")
  private val KeyMetadata =
    column(131, "key_metadata", Bytes, Optional, Optional, Optional, "Key metadata for encryption")(_.keyMetadata)
  private val SplitOffsets = column(
    132,
    "split_offsets",
    ColumnType.longs(133),
    Optional,
    Optional,
    Optional,
    "Where the file can be split, such as at its row groups; ascending"
  )(f => Some(f.splitOffsets).filter(_.nonEmpty))
  private val EqualityIds = column(
    135,
    "equality_ids",
    ColumnType.ints(136),
    Absent,
    Optional,
    Optional,
    "Columns that equality deletes compare"
  )(f => Some(f.equalityIds).filter(_.nonEmpty))

  /**
   * The sort order is not written for position deletes, because these are sorted by file and position, and not by a
   * sort order of the table (spec: note 3 of `data_file`).
   */
  private val SortOrderId =
    column(140, "sort_order_id", Int32, Optional, Optional, Optional, "Sort order of the rows")(f =>
      f.sortOrderId.filter(_ => f.content != Content.PositionDeletes)
    )
  private val FirstRowId =
    column(142, "first_row_id", Int64, Absent, Absent, Optional, "Row id of the file's first row")(f =>
      f.firstRowId.filter(_ => f.content == Content.Data)
    )
  private val ReferencedDataFile = column(
    143,
    "referenced_data_file",
    Text,
    Absent,
    Optional,
    Optional,
    "The only data file to which the deletes apply"
  )(_.referencedDataFile)
  private val ContentOffset =
    column(144, "content_offset", Int64, Absent, Absent, Optional, "Where the deletion vector begins in the file")(
      _.contentOffset
    )
  private val ContentSize = column(
    145,
    "content_size_in_bytes",
    Int64,
    Absent,
    Absent,
    Optional,
    "Length of the deletion vector in the file"
  )(_.contentSizeInBytes)

  private val metrics: Array[StructColumn[_, Metrics]] =
    Array(ColumnSizes, ValueCounts, NullValueCounts, NanValueCounts, LowerBounds, UpperBounds)

  private def metricsColumn(id: Int, map: MetricsMap, keyId: Int, valueId: Int, doc: String) = {
    val columnType = new MetricsColumn(map, keyId, valueId)
    column(id, map.name, columnType, Optional, Optional, Optional, doc)(f => columnType.of(f.metrics))
  }

  /**
   * Returns the file that a decoded row describes.
   *
   * @param row the row that was just read
   * @param block the bytes that contain the row
   * @param tuples the partition tuples that were already read from the manifest
   */
  def fromRow(
      row: AvroRow,
      block: Array[Byte],
      status: EntryStatus,
      tuples: PartitionTuples,
      inheritance: Inheritance
  ): ContentFile = {
    val rows = row.long(RecordCount)
    val file = ContentFile(
      content = if (row.has(FileContent)) content(row.int(FileContent)) else Content.Data,
      path = row.value(Path),
      format = row.value(Format),
      specId = inheritance.specId,
      partition = tuples.of(row, Partition, block),
      recordCount = rows,
      fileSizeInBytes = row.long(FileSize),
      metrics = MetricsColumn.metrics(row, metrics, block),
      keyMetadata = row.option(KeyMetadata),
      splitOffsets = row.valueOr(SplitOffsets, Vector.empty),
      equalityIds = row.valueOr(EqualityIds, Vector.empty),
      sortOrderId = row.intOption(SortOrderId),
      firstRowId = inheritance.firstRowId(status, row.longOption(FirstRowId), rows),
      referencedDataFile = row.option(ReferencedDataFile),
      contentOffset = row.longOption(ContentOffset),
      contentSizeInBytes = row.longOption(ContentSize)
    )
    check(file)
    if (row.has(FirstRowId)) requireNotNegative(file, FirstRowId, row.long(FirstRowId))
    file
  }

  private def check(file: ContentFile): Unit = {
    if (file.content == Content.EqualityDeletes && file.equalityIds.isEmpty) failMissing(file, EqualityIds)
    if (file.format == FileFormat.Puffin) checkVector(file)
    if (file.content != Content.Data || file.recordCount != ContentFile.UnknownRecords) {
      requireNotNegative(file, RecordCount, file.recordCount)
    }
    requireNotNegative(file, FileSize, file.fileSizeInBytes)
  }

  /**
   * Checks the fields that locate a deletion vector: the referenced data file, the content offset and the content size
   * (spec version 3).
   */
  private def checkVector(file: ContentFile): Unit = {
    if (file.referencedDataFile.isEmpty) failMissing(file, ReferencedDataFile)
    requireNotNegative(file, ContentOffset, file.contentOffset.getOrElse(failMissing(file, ContentOffset)))
    requireNotNegative(file, ContentSize, file.contentSizeInBytes.getOrElse(failMissing(file, ContentSize)))
  }

  private def requireNotNegative(file: ContentFile, column: StructColumn[ContentFile, Long], value: Long): Unit =
    if (value < 0)
      throw AvroFault(s"The ${column.name} (field ${column.id}) of ${file.path} must not be negative, but is $value")

  private def failMissing(file: ContentFile, column: StructColumn[ContentFile, _]): Nothing =
    throw AvroFault(s"The entry of ${file.path} (${file.content.name}) has no ${column.name} (field ${column.id})")

  private def content(code: Int): Content = code match {
    case Content.Data.code => Content.Data
    case Content.PositionDeletes.code => Content.PositionDeletes
    case Content.EqualityDeletes.code => Content.EqualityDeletes
    case _ => throw AvroFault(s"A file has the unknown content $code")
  }
}

private[iceberglite] object DataFileColumns {
  private val BlockSize = 64L << 20
}
