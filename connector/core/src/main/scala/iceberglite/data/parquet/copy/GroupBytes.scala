package iceberglite.data.parquet.copy

import java.io.{ByteArrayInputStream, InputStream}

import scala.collection.JavaConverters._

import org.apache.parquet.format.Util
import org.apache.parquet.format.converter.ParquetMetadataConverter
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.internal.column.columnindex.{ColumnIndex, OffsetIndex}
import org.apache.parquet.internal.hadoop.metadata.IndexReference
import org.apache.parquet.io.{ParquetDecodingException, SeekableInputStream}

/** The bytes of the column chunks of a row group, and of the page indexes of some of them. */
final private[copy] class GroupBytes(chunks: BytesAt, columnIndexes: BytesAt, offsetIndexes: BytesAt) {
  def chunk(chunk: ColumnChunkMetaData): Slice = chunks.slice(chunk.getStartingPos, chunk.getTotalSize)

  def columnIndex(chunk: ColumnChunkMetaData): ColumnIndex = ParquetMetadataConverter
    .fromParquetColumnIndex(
      chunk.getPrimitiveType,
      Util.readColumnIndex(stream(columnIndexes, chunk.getColumnIndexReference))
    )

  def offsetIndex(chunk: ColumnChunkMetaData): OffsetIndex =
    ParquetMetadataConverter.fromParquetOffsetIndex(Util.readOffsetIndex(stream(
      offsetIndexes,
      chunk.getOffsetIndexReference
    )))

  private def stream(indexes: BytesAt, reference: IndexReference): InputStream = {
    val slice = indexes.slice(reference.getOffset, reference.getLength.toLong)
    new ByteArrayInputStream(slice.bytes, slice.offset, slice.length)
  }
}

/** Bytes of a file. @param start the position of the first byte in the file */
final private[copy] class BytesAt(bytes: Array[Byte], start: Long) {
  def slice(position: Long, length: Long): Slice = {
    val offset = position - start
    if (offset < 0 || length < 0 || length > bytes.length || offset > bytes.length - length)
      throw new ParquetDecodingException(
        s"$length bytes at position $position are outside of the part of the file that they belong to"
      )
    Slice(bytes, offset.toInt, length.toInt)
  }
}

private[copy] object GroupBytes {

  /**
   * Reads a row group with at most three requests: for all column chunks, for column indexes and for offset indexes.
   * The two kinds of indexes are read separately, because a file contains the column indexes of all row groups before
   * the offset indexes of all row groups.
   *
   * @param indexed the column chunks whose page indexes are read
   */
  def read(group: SourceGroup, indexed: Seq[ColumnChunkMetaData]): GroupBytes = {
    val (stream, length) = (group.file.input.newStream(), group.file.input.getLength)
    def indexes(references: Seq[IndexReference]) =
      read(stream, references.map(r => (r.getOffset, r.getLength.toLong)), length)
    try new GroupBytes(
        read(stream, group.block.getColumns.asScala.map(c => (c.getStartingPos, c.getTotalSize)), length),
        indexes(indexed.map(_.getColumnIndexReference)),
        indexes(indexed.map(_.getOffsetIndexReference))
      )
    finally stream.close()
  }

  /**
   * Reads the bytes from the start of the first range to the end of the last one. A range is an offset and a length, in
   * bytes.
   */
  private def read(stream: SeekableInputStream, ranges: Iterable[(Long, Long)], fileLength: Long): BytesAt =
    if (ranges.isEmpty) new BytesAt(Array.emptyByteArray, 0L)
    else {
      ranges.find(r => r._1 < 0 || r._2 < 0 || r._2 > fileLength || r._1 > fileLength - r._2).foreach {
        case (at, size) =>
          throw outside(s"$size bytes at position $at", fileLength)
      }
      val (start, end) = (ranges.iterator.map(_._1).min, ranges.iterator.map(r => r._1 + r._2).max)
      if (end - start > Int.MaxValue - 8) throw outside(s"the bytes from $start to $end", fileLength)
      val bytes = new Array[Byte]((end - start).toInt)
      stream.seek(start)
      stream.readFully(bytes)
      new BytesAt(bytes, start)
    }

  private def outside(part: String, fileLength: Long): ParquetDecodingException =
    new ParquetDecodingException(s"A row group claims $part, but the file has $fileLength bytes")
}
