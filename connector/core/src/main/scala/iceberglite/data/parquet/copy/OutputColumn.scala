package iceberglite.data.parquet.copy

import java.io.{ByteArrayInputStream, SequenceInputStream}
import java.util.Collections

import scala.collection.JavaConverters._
import scala.collection.mutable

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.column.{ColumnDescriptor, ColumnReader, Encoding, EncodingStats, ParquetProperties}
import org.apache.parquet.compression.CompressionCodecFactory
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, ColumnPath}
import org.apache.parquet.hadoop.{ColumnChunkPageWriteStore, ParquetFileWriter}
import org.apache.parquet.internal.column.columnindex.{ColumnIndexBuilder, OffsetIndexBuilder}
import org.apache.parquet.io.{DelegatingSeekableInputStream, ParquetDecodingException}

import iceberglite.data.parquet.{ParquetFileSettings, PagesWithoutStatistics}
import iceberglite.spec.schema.MetadataColumns

/** A column chunk of the row group that is being written. */
private[copy] trait OutputColumn {

  /** Adds the values of a row group of an old file. */
  def add(group: SourceGroup, bytes: GroupBytes): Unit

  /**
   * The size of the added values in bytes. Values whose page is not complete yet count with their size before encoding
   * and compression.
   */
  def bufferedSize: Long

  /** Writes the column chunk to the file. */
  def finish(file: ParquetFileWriter): Unit
}

/**
 * Copies compressed pages unchanged. The pages must not be dictionary-encoded, because the dictionaries of the old
 * files differ. Only the pages of floating point columns and of geometries are decompressed, to collect the metrics of
 * their values.
 */
final private[copy] class PageColumn(
    column: ColumnDescriptor,
    fileSettings: ParquetFileSettings,
    values: ColumnValues,
    codecs: CompressionCodecFactory
) extends OutputColumn {
  private val leaf = column.getPrimitiveType
  private val path = column.getPath.toVector
  private val slices = mutable.ArrayBuffer.empty[Slice]
  private val columnIndex =
    ColumnIndexBuilder.getBuilder(leaf, ParquetProperties.DEFAULT_COLUMN_INDEX_TRUNCATE_LENGTH)
  private val offsetIndex = OffsetIndexBuilder.getBuilder
  private val statistics: Statistics[_] = Statistics.createStats(leaf)
  private val encodings = mutable.Set.empty[Encoding]
  private var size = 0L
  private var uncompressedSize = 0L
  private var valueCount = 0L
  private var rows = 0L
  private var pages = 0

  override def add(group: SourceGroup, bytes: GroupBytes): Unit = {
    val chunk = group.chunks(path)
    if (column.getMaxRepetitionLevel == 0) group.checkRows(chunk, chunk.getValueCount)
    val slice = bytes.chunk(chunk)
    values match {
      case counted: CountedColumn =>
        count(counted, ChunkValues.of(group, column, slice, codecs), chunk.getValueCount)
      case _ =>
    }
    addPages(chunk, bytes)
    slices += slice
    statistics.mergeStatistics(chunk.getStatistics)
    encodings ++= chunk.getEncodings.asScala
    size += chunk.getTotalSize
    uncompressedSize += chunk.getTotalUncompressedSize
    valueCount += chunk.getValueCount
    rows += group.rows
  }

  private def count(counted: CountedColumn, reader: ColumnReader, total: Long): Unit = {
    var i = 0L
    while (i < total) {
      if (reader.getCurrentDefinitionLevel == column.getMaxDefinitionLevel) counted.count(reader)
      reader.consume()
      i += 1
    }
  }

  private def addPages(chunk: ColumnChunkMetaData, bytes: GroupBytes): Unit = {
    val (bounds, offsets) = (bytes.columnIndex(chunk), bytes.offsetIndex(chunk))
    val (nullPages, nulls) = (bounds.getNullPages, bounds.getNullCounts)
    val count = offsets.getPageCount
    val sizes = Seq(nullPages, nulls, bounds.getMinValues, bounds.getMaxValues).map(Option(_).map(_.size))
    if (sizes.exists(!_.contains(count))) {
      throw new ParquetDecodingException(s"The indexes of ${chunk.getPath} have different numbers of pages")
    }
    (0 until count).foreach { i =>
      val page = Statistics.getBuilderForReading(leaf).withNumNulls(nulls.get(i))
      if (!nullPages.get(i)) {
        page.withMin(array(bounds.getMinValues.get(i))).withMax(array(bounds.getMaxValues.get(i)))
      }
      columnIndex.add(page.build())
      val position = size + offsets.getOffset(i) - chunk.getStartingPos
      offsetIndex.add(position, offsets.getCompressedPageSize(i), rows + offsets.getFirstRowIndex(i))
    }
    pages += count
  }

  private def array(buffer: java.nio.ByteBuffer): Array[Byte] = {
    val bytes = new Array[Byte](buffer.remaining)
    buffer.duplicate().get(bytes)
    bytes
  }

  override def bufferedSize: Long = size

  override def finish(file: ParquetFileWriter): Unit = {
    val stats = new EncodingStats.Builder().addDataEncoding(Encoding.PLAIN, pages).build()
    val chunk = ColumnChunkMetaData.get(
      ColumnPath.get(path: _*),
      leaf,
      fileSettings.codec,
      stats,
      encodings.asJava,
      statistics,
      0L,
      0L,
      valueCount,
      size,
      uncompressedSize
    )
    file.appendColumnChunk(column, stream, chunk, null, columnIndex.build(), offsetIndex.build())
  }

  private def stream: DelegatingSeekableInputStream = {
    val parts = slices.iterator.map(slice => new ByteArrayInputStream(slice.bytes, slice.offset, slice.length))
    new DelegatingSeekableInputStream(new SequenceInputStream(Collections.enumeration(parts.toVector.asJava))) {
      // Parquet's writer only seeks to the start of the chunk, before it reads the chunk.
      override def getPos: Long = 0L
      override def seek(position: Long): Unit = ()
    }
  }
}

/** Decodes and encodes the values of a column. */
final private[copy] class ValueColumn(
    column: ColumnDescriptor,
    fileSettings: ParquetFileSettings,
    values: ColumnValues,
    codecs: CompressionCodecFactory
) extends OutputColumn {
  private val path = column.getPath.toVector
  private val schema = CopySchema.single(fileSettings.messageType, path)
  private val pages = new ColumnChunkPageWriteStore(
    fileSettings.codecs.getCompressor(fileSettings.codec),
    schema,
    fileSettings.properties.getAllocator,
    fileSettings.properties.getColumnIndexTruncateLength,
    fileSettings.properties.getPageWriteChecksumEnabled
  )
  private val store = fileSettings.properties.newColumnWriteStore(schema, new PagesWithoutStatistics(pages), pages)
  private val writer = store.getColumnWriter(column)
  private val present = column.getMaxDefinitionLevel

  override def add(group: SourceGroup, bytes: GroupBytes): Unit = group.chunks.get(path) match {
    case Some(chunk) =>
      val own = group.file.schema.getColumnDescription(path.toArray)
      val reader = ChunkValues.of(group, own, bytes.chunk(chunk), codecs)
      val copied = copy(reader, chunk.getValueCount, own.getMaxDefinitionLevel, inherited(group))
      group.checkRows(chunk, copied)
    case None =>
      val inheritedValue = inherited(group).getOrElse(
        throw new ParquetDecodingException(s"A row group has no column ${path.mkString(".")}")
      )
      var i = 0L
      while (i < group.rows) {
        writer.write(inheritedValue(i), 0, present)
        store.endRecord()
        i += 1
      }
  }

  /**
   * Copies the values of a column chunk.
   *
   * @param defined the definition level of the values in the old file that are not null
   * @param inherited returns the value that replaces a null in the chunk, by the index of the row; absent if nulls are
   *   copied
   * @return the number of rows
   */
  private def copy(reader: ColumnReader, total: Long, defined: Int, inherited: Option[Long => Long]): Long = {
    var i = 0L
    var rows = 0L
    while (i < total) {
      val repetition = reader.getCurrentRepetitionLevel
      val definition = reader.getCurrentDefinitionLevel
      if (repetition == 0) {
        if (i > 0) store.endRecord()
        rows += 1
      }
      if (definition == defined) values.copy(reader, writer, repetition, present)
      else if (inherited.isDefined) writer.write(inherited.get(i), repetition, present)
      else writer.writeNull(repetition, definition)
      reader.consume()
      i += 1
    }
    if (total > 0) store.endRecord()
    rows
  }

  /**
   * Returns a function from the index of a row in the row group to the value that the row inherits; absent if rows
   * inherit no values in this column.
   */
  private def inherited(group: SourceGroup): Option[Long => Long] =
    group.file.copied.lineage.filter(_ => path.size == 1).flatMap { lineage =>
      Option(column.getPrimitiveType.getId).map(_.intValue).collect {
        case MetadataColumns.RowId.id => index => lineage.firstRowId + group.firstPosition + index
        case MetadataColumns.LastUpdatedSequenceNumber.id => _ => lineage.sequenceNumber
      }
    }

  override def bufferedSize: Long = store.getBufferedSize

  override def finish(file: ParquetFileWriter): Unit = {
    store.flush()
    pages.flushToFileWriter(file)
    store.close()
  }
}
