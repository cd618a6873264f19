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
final private[copy] class GroupBytes(chunks: BytesAt, indexes: BytesAt) {
  def chunk(chunk: ColumnChunkMetaData): Slice = chunks.slice(chunk.getStartingPos, chunk.getTotalSize)

  def columnIndex(chunk: ColumnChunkMetaData): ColumnIndex = ParquetMetadataConverter
    .fromParquetColumnIndex(chunk.getPrimitiveType, Util.readColumnIndex(stream(chunk.getColumnIndexReference)))

  def offsetIndex(chunk: ColumnChunkMetaData): OffsetIndex =
    ParquetMetadataConverter.fromParquetOffsetIndex(Util.readOffsetIndex(stream(chunk.getOffsetIndexReference)))

  private def stream(reference: IndexReference): InputStream = {
    val slice = indexes.slice(reference.getOffset, reference.getLength.toLong)
    new ByteArrayInputStream(slice.bytes, slice.offset, slice.length)
  }
}

/** Bytes of a file. @param start the position of the first byte in the file */
final private[copy] class BytesAt(bytes: Array[Byte], start: Long) {
  def slice(position: Long, length: Long): Slice = {
    val offset = position - start
    if (offset < 0 || length < 0 || offset + length > bytes.length) throw new ParquetDecodingException(
      s"$length bytes at position $position are outside of the part of the file that they belong to"
    )
    Slice(bytes, offset.toInt, length.toInt)
  }
}

private[copy] object GroupBytes {

  /**
   * Reads a row group with two requests: one for all column chunks, and one for all page indexes.
   *
   * @param indexed the column chunks whose page indexes are read
   */
  def read(group: SourceGroup, indexed: Seq[ColumnChunkMetaData]): GroupBytes = {
    val stream = group.file.input.newStream()
    try {
      val chunks = group.block.getColumns.asScala
      val references = indexed.flatMap(chunk => Seq(chunk.getColumnIndexReference, chunk.getOffsetIndexReference))
      new GroupBytes(
        read(stream, chunks.map(chunk => (chunk.getStartingPos, chunk.getTotalSize)), group.file.input.getLength),
        read(stream, references.map(r => (r.getOffset, r.getLength.toLong)), group.file.input.getLength)
      )
    } finally stream.close()
  }

  /** Reads the bytes from the first to the last of the given ranges of offsets and lengths. */
  private def read(stream: SeekableInputStream, ranges: Seq[(Long, Long)], fileLength: Long): BytesAt =
    if (ranges.isEmpty) new BytesAt(Array.emptyByteArray, 0L)
    else {
      val (start, end) = (ranges.iterator.map(_._1).min, ranges.iterator.map(r => r._1 + r._2).max)
      if (start < 0 || end > fileLength || end - start > Int.MaxValue - 8) throw new ParquetDecodingException(
        s"A row group claims the bytes from $start to $end, but the file has only $fileLength bytes"
      )
      val bytes = new Array[Byte]((end - start).toInt)
      stream.seek(start)
      stream.readFully(bytes)
      new BytesAt(bytes, start)
    }
}
