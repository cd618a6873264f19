package iceberglite.data.parquet.copy

import org.apache.parquet.column.impl.ColumnReadStoreImpl
import org.apache.parquet.column.page.{PageReadStore, PageReader}
import org.apache.parquet.column.{ColumnDescriptor, ColumnReader}
import org.apache.parquet.compression.CompressionCodecFactory
import org.apache.parquet.io.api.{Converter, GroupConverter, PrimitiveConverter}

import iceberglite.data.parquet.{GuardedPages, LoadedPages}

/** A part of an array. */
final private[copy] case class Slice(bytes: Array[Byte], offset: Int, length: Int)

/** Reads the values of column chunks in memory. */
private[copy] object ChunkValues {

  /** Returns a reader of the values of a column chunk. */
  def of(
      group: SourceGroup,
      column: ColumnDescriptor,
      slice: Slice,
      codecs: CompressionCodecFactory
  ): ColumnReader = {
    val chunk = group.chunks(column.getPath.toVector)
    val pages = GuardedPages.of(new PageReadStore {
      override def getRowCount: Long = group.rows
      override def getPageReader(column: ColumnDescriptor): PageReader =
        new LoadedPages(slice.bytes, slice.offset, slice.length, chunk, codecs.getDecompressor(chunk.getCodec))
    })
    val converter = new PathConverter(column.getPath.length)
    new ColumnReadStoreImpl(pages, converter, group.file.schema, group.file.createdBy).getColumnReader(column)
  }

  /**
   * The converter that a column reader requires. Only `getConverter` is called, to find the converter of the column.
   * Values are never passed to a converter.
   *
   * @param depth the length of the path
   */
  final private class PathConverter(depth: Int) extends GroupConverter {
    override def getConverter(field: Int): Converter =
      if (depth == 1) new PrimitiveConverter {}
      else new PathConverter(depth - 1)
    override def start(): Unit = ()
    override def end(): Unit = ()
  }
}
