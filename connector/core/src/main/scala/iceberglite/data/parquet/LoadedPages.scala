package iceberglite.data.parquet

import java.io.ByteArrayInputStream
import java.util.zip.CRC32

import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.column.Encoding
import org.apache.parquet.column.page.{DataPage, DataPageV1, DataPageV2, DictionaryPage, PageReader}
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.compression.CompressionCodecFactory.BytesInputDecompressor
import org.apache.parquet.format.{Encoding => StoredEncoding, PageHeader, PageType, Util}
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.io.ParquetDecodingException

/**
 * The pages of a column chunk in memory. They are returned without statistics, which their readers do not need. Their
 * checksums are verified.
 *
 * @param bytes an array that contains the bytes of the column chunk
 * @param offset the position of the first byte of the column chunk in the array
 * @param length the number of bytes of the column chunk
 */
final private class LoadedPages(
    bytes: Array[Byte],
    offset: Int,
    length: Int,
    chunk: ColumnChunkMetaData,
    decompressor: BytesInputDecompressor
) extends PageReader {
  private val in = new ByteArrayInputStream(bytes, offset, length)
  private val noStatistics: Statistics[_] = Statistics.getBuilderForReading(chunk.getPrimitiveType).build()
  private var remaining = chunk.getValueCount
  private var header = Option.empty[PageHeader]

  override def getTotalValueCount: Long = chunk.getValueCount

  /** Returns the dictionary; null if the column chunk does not begin with one. */
  override def readDictionaryPage(): DictionaryPage = {
    val page = nextHeader()
    if (page.getType != PageType.DICTIONARY_PAGE) null
    else {
      val start = contents(page)
      val dictionary = page.getDictionary_page_header
      new DictionaryPage(whole(page, start), dictionary.getNum_values, encoding(dictionary.getEncoding))
    }
  }

  /** Returns the next data page; null after the last one. */
  override def readPage(): DataPage = if (remaining <= 0) null
  else {
    val page = nextHeader()
    val start = contents(page)
    val read = page.getType match {
      case PageType.DATA_PAGE => ofVersion1(page, start)
      case PageType.DATA_PAGE_V2 => ofVersion2(page, start)
      case other => throw new ParquetDecodingException(s"Unexpected page $other in the column ${chunk.getPath}")
    }
    if (read.getValueCount < 0 || read.getValueCount > remaining) throw new ParquetDecodingException(
      s"A page of the column ${chunk.getPath} has ${read.getValueCount} values, but the footer claims $remaining"
    )
    remaining -= read.getValueCount.toLong
    read
  }

  private def ofVersion1(page: PageHeader, start: Int): DataPage = {
    val data = page.getData_page_header
    new DataPageV1(
      whole(page, start),
      data.getNum_values,
      page.getUncompressed_page_size,
      noStatistics,
      encoding(data.getRepetition_level_encoding),
      encoding(data.getDefinition_level_encoding),
      encoding(data.getEncoding)
    )
  }

  /** The levels of a page of version 2 are not compressed. */
  private def ofVersion2(page: PageHeader, start: Int): DataPage = {
    val data = page.getData_page_header_v2
    val (repetition, definition) = (data.getRepetition_levels_byte_length, data.getDefinition_levels_byte_length)
    val levels = repetition.toLong + definition
    val size = page.getCompressed_page_size
    if (repetition < 0 || definition < 0 || levels > size || levels > page.getUncompressed_page_size)
      throw new ParquetDecodingException(
        s"A page of the column ${chunk.getPath} claims levels of $levels bytes, but has only $size bytes"
      )
    val values = BytesInput.from(bytes, start + levels.toInt, size - levels.toInt)
    DataPageV2.uncompressed(
      data.getNum_rows,
      data.getNum_nulls,
      data.getNum_values,
      BytesInput.from(bytes, start, repetition),
      BytesInput.from(bytes, start + repetition, definition),
      encoding(data.getEncoding),
      if (data.isIs_compressed) decompressor.decompress(values, page.getUncompressed_page_size - levels.toInt)
      else values,
      noStatistics
    )
  }

  private def nextHeader(): PageHeader = {
    val page = header.getOrElse(Util.readPageHeader(in))
    header = Some(page)
    page
  }

  /** Skips the contents of the current page, after a check of their size and checksum. Returns their position. */
  private def contents(page: PageHeader): Int = {
    val (size, start) = (page.getCompressed_page_size, offset + length - in.available)
    if (size < 0 || size > in.available) throw new ParquetDecodingException(
      s"A page of the column ${chunk.getPath} claims $size bytes, but only ${in.available} are left"
    )
    if (page.isSetCrc) {
      val crc = new CRC32
      crc.update(bytes, start, size)
      if (crc.getValue.toInt != page.getCrc)
        throw new ParquetDecodingException(s"A page of the column ${chunk.getPath} does not match its checksum")
    }
    in.skip(size.toLong)
    header = None
    start
  }

  private def whole(page: PageHeader, start: Int): BytesInput = decompressor
    .decompress(BytesInput.from(bytes, start, page.getCompressed_page_size), page.getUncompressed_page_size)

  private def encoding(stored: StoredEncoding): Encoding = Encoding.valueOf(stored.name)
}
