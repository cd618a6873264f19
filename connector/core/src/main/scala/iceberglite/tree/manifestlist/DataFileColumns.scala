package iceberglite.tree.manifestlist

import iceberglite.avro.{AvroRow, ColumnType, StructColumn, StructColumns}
import iceberglite.avro.ColumnType.{Bytes, Int32, Int64, Text}
import iceberglite.avro.Presence.{Absent, Optional, Required}
import iceberglite.spec.file.{Content, ContentFile, EntryStatus, Metrics}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.tree.DataFileFields

/**
 * The struct `data_file` (spec: "Manifests"; spec version 3 added the fields 142, 144 and 145). The fields 106
 * `file_ordinal`, 107 `sort_columns` and 111 `distinct_counts` are deprecated and must not be written. The field id 141
 * is reserved. A reader skips all of these fields.
 *
 * @param partition the partition struct, which depends on the partition spec of the manifest
 */
final private[iceberglite] class DataFileColumns(partition: PartitionCodec)
    extends StructColumns[ContentFile]("data_file") {
  private val FileContent =
    column(DataFileFields.Content, Int32, Absent, Required, Required)(f =>
      Some(f.content.code)
    )
  private val Path =
    column(DataFileFields.FilePath, Text, Required, Required, Required)(f => Some(f.path))
  private val Format =
    column(DataFileFields.FileFormat, FormatColumn, Required, Required, Required)(f =>
      Some(f.format)
    )
  private val Partition: StructColumn[ContentFile, PartitionTuple] =
    column(DataFileFields.partition(partition.partitionType), partition, Required, Required, Required)(f =>
      Some(f.partition)
    )
  private val RecordCount =
    column(DataFileFields.RecordCount, Int64, Required, Required, Required)(f => Some(f.recordCount))
  private val FileSize =
    column(DataFileFields.FileSize, Int64, Required, Required, Required)(f =>
      Some(f.fileSizeInBytes)
    )

  /** The field is deprecated, but version 1 requires a value (spec: "Always write a default in v1"). */
  column(105, "block_size_in_bytes", Int64, Required, Absent, Absent, "Deprecated: always the same")(_ =>
    Some(DataFileColumns.BlockSize)
  )
  private val ColumnSizes =
    metricsColumn(DataFileFields.ColumnSizes, MetricsMap.ColumnSizes)
  private val ValueCounts =
    metricsColumn(DataFileFields.ValueCounts, MetricsMap.ValueCounts)
  private val NullValueCounts =
    metricsColumn(DataFileFields.NullValueCounts, MetricsMap.NullValueCounts)
  private val NanValueCounts =
    metricsColumn(DataFileFields.NanValueCounts, MetricsMap.NanValueCounts)
  private val LowerBounds =
    metricsColumn(DataFileFields.LowerBounds, MetricsMap.LowerBounds)
  private val UpperBounds =
    metricsColumn(DataFileFields.UpperBounds, MetricsMap.UpperBounds)
  private val KeyMetadata =
    column(DataFileFields.KeyMetadata, Bytes, Optional, Optional, Optional)(_.keyMetadata)
  private val SplitOffsets =
    column(DataFileFields.SplitOffsets, ColumnType.longs(DataFileFields.SplitOffsetId), Optional, Optional, Optional)(
      f => Some(f.splitOffsets).filter(_.nonEmpty)
    )
  private val EqualityIds =
    column(DataFileFields.EqualityIds, ColumnType.ints(DataFileFields.EqualityIdId), Absent, Optional, Optional)(f =>
      Some(f.equalityIds).filter(_.nonEmpty)
    )

  /**
   * The sort order is not written for position deletes, because these are sorted by file and position, and not by a
   * sort order of the table (spec: note 3 of `data_file`).
   */
  private val SortOrderId =
    column(DataFileFields.SortOrderId, Int32, Optional, Optional, Optional)(f =>
      f.sortOrderId.filter(_ => f.content != Content.PositionDeletes)
    )
  private val FirstRowId =
    column(DataFileFields.FirstRowId, Int64, Absent, Absent, Optional)(f =>
      f.firstRowId.filter(_ => f.content == Content.Data)
    )
  private val ReferencedDataFile =
    column(DataFileFields.ReferencedDataFile, Text, Absent, Optional, Optional)(_.referencedDataFile)
  private val ContentOffset =
    column(DataFileFields.ContentOffset, Int64, Absent, Absent, Optional)(
      _.contentOffset
    )
  private val ContentSize = column(DataFileFields.ContentSize, Int64, Absent, Absent, Optional)(_.contentSizeInBytes)

  private val metrics: Array[StructColumn[_, Metrics]] =
    Array(ColumnSizes, ValueCounts, NullValueCounts, NanValueCounts, LowerBounds, UpperBounds)

  private def metricsColumn(in: DataFileFields.ByColumn, map: MetricsMap) = {
    val columnType = new MetricsColumn(map, in.keyId, in.valueId)
    column(in.field, columnType, Optional, Optional, Optional)(f => columnType.of(f.metrics))
  }

  /**
   * Returns the file that a decoded row describes.
   *
   * @param row the row that was just read
   * @param block the Avro block that contains the row
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
    val firstRowId = row.longOption(FirstRowId)
    val file = ContentFile(
      content = if (row.has(FileContent)) DataFileChecks.content(row.int(FileContent)) else Content.Data,
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
      firstRowId = inheritance.firstRowId(status, firstRowId, rows),
      referencedDataFile = row.option(ReferencedDataFile),
      contentOffset = row.longOption(ContentOffset),
      contentSizeInBytes = row.longOption(ContentSize)
    )
    DataFileChecks.check(file, firstRowId)
    file
  }
}

private[iceberglite] object DataFileColumns {
  private val BlockSize = 64L << 20
}
