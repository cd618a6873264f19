package iceberglite.data.parquet.copy

import java.io.ByteArrayInputStream

import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.column.impl.ColumnReadStoreImpl
import org.apache.parquet.column.page.{DataPage, DataPageV1, DictionaryPage, PageReadStore, PageReader}
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.column.{ColumnDescriptor, ColumnReader, Encoding}
import org.apache.parquet.compression.CompressionCodecFactory
import org.apache.parquet.format.{PageHeader, PageType, Util}
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.io.ParquetDecodingException
import org.apache.parquet.io.api.{Converter, GroupConverter, PrimitiveConverter}

import iceberglite.data.parquet.GuardedPages

/** Reads the pages of a column chunk from its bytes. Data pages of version 2 are rejected. */
final private[copy] class ChunkPages(slice: Slice, chunk: ColumnChunkMetaData, codecs: CompressionCodecFactory)
    extends PageReader {
  private val in = new ByteArrayInputStream(slice.bytes, slice.offset, slice.length)
  private val decompressor = codecs.getDecompressor(chunk.getCodec)
  private var remaining = chunk.getValueCount
  private var header = Option.empty[PageHeader]

  override def getTotalValueCount: Long = chunk.getValueCount

  override def readDictionaryPage(): DictionaryPage = {
    val page = nextHeader()
    if (page.getType != PageType.DICTIONARY_PAGE) null
    else {
      header = None
      val dictionary = page.getDictionary_page_header
      new DictionaryPage(contents(page), dictionary.getNum_values, encoding(dictionary.getEncoding))
    }
  }

  override def readPage(): DataPage =
    if (remaining <= 0) null
    else {
      val page = nextHeader()
      header = None
      if (page.getType != PageType.DATA_PAGE) throw new ParquetDecodingException(s"Unexpected page ${page.getType}")
      val data = page.getData_page_header
      remaining -= data.getNum_values.toLong
      new DataPageV1(
        contents(page),
        data.getNum_values,
        page.getUncompressed_page_size,
        Statistics.getBuilderForReading(chunk.getPrimitiveType).build(),
        encoding(data.getRepetition_level_encoding),
        encoding(data.getDefinition_level_encoding),
        encoding(data.getEncoding)
      )
    }

  private def nextHeader(): PageHeader = {
    val page = header.getOrElse(Util.readPageHeader(in))
    header = Some(page)
    page
  }

  private def contents(page: PageHeader): BytesInput = {
    val (size, start) = (page.getCompressed_page_size, slice.offset + slice.length - in.available)
    if (size < 0 || size > in.available) throw new ParquetDecodingException(
      s"A page of ${chunk.getPath} claims $size bytes, but only ${in.available} are left"
    )
    in.skip(size.toLong)
    decompressor.decompress(BytesInput.from(slice.bytes, start, size), page.getUncompressed_page_size)
  }

  private def encoding(encoding: org.apache.parquet.format.Encoding): Encoding = Encoding.valueOf(encoding.name)
}

/** A part of an array. */
final private[copy] case class Slice(bytes: Array[Byte], offset: Int, length: Int)

private[copy] object ChunkPages {

  /** Returns a reader of the values of a column chunk. */
  def values(
      group: SourceGroup,
      column: ColumnDescriptor,
      slice: Slice,
      codecs: CompressionCodecFactory
  ): ColumnReader = {
    val chunk = group.chunks(column.getPath.toVector)
    val pages = GuardedPages.of(new PageReadStore {
      override def getRowCount: Long = group.rows
      override def getPageReader(column: ColumnDescriptor): PageReader = new ChunkPages(slice, chunk, codecs)
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
