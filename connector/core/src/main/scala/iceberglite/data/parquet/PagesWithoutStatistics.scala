package iceberglite.data.parquet

import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.column.page.{DictionaryPage, PageWriteStore, PageWriter}
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.column.{ColumnDescriptor, Encoding}
import org.apache.parquet.schema.{ColumnOrder, PrimitiveType}

/**
 * Removes the statistics from pages of columns with undefined sort order. This version of the Parquet library has no
 * setting that disables the statistics of a column.
 */
final private[parquet] class PagesWithoutStatistics(pages: PageWriteStore) extends PageWriteStore {
  override def getPageWriter(column: ColumnDescriptor): PageWriter = {
    val (writer, leaf) = (pages.getPageWriter(column), column.getPrimitiveType)
    if (leaf.columnOrder == ColumnOrder.undefined) new PageWriterWithoutStatistics(writer, leaf) else writer
  }
}

final private class PageWriterWithoutStatistics(writer: PageWriter, leaf: PrimitiveType) extends PageWriter {

  /** Empty statistics, in which the null count is also unknown. */
  private val emptyStatistics: Statistics[_] = Statistics.getBuilderForReading(leaf).build()

  override def writePage(
      bytes: BytesInput,
      valueCount: Int,
      statistics: Statistics[_],
      repetition: Encoding,
      definition: Encoding,
      values: Encoding
  ): Unit = throw new UnsupportedOperationException("A page cannot be written without its row count")

  override def writePage(
      bytes: BytesInput,
      valueCount: Int,
      rowCount: Int,
      statistics: Statistics[_],
      repetition: Encoding,
      definition: Encoding,
      values: Encoding
  ): Unit = writer.writePage(bytes, valueCount, rowCount, emptyStatistics, repetition, definition, values)

  override def writePageV2(
      rowCount: Int,
      nullCount: Int,
      valueCount: Int,
      repetition: BytesInput,
      definition: BytesInput,
      encoding: Encoding,
      data: BytesInput,
      statistics: Statistics[_]
  ): Unit = writer.writePageV2(rowCount, nullCount, valueCount, repetition, definition, encoding, data, emptyStatistics)

  override def getMemSize: Long = writer.getMemSize
  override def allocatedSize: Long = writer.allocatedSize
  override def writeDictionaryPage(page: DictionaryPage): Unit = writer.writeDictionaryPage(page)
  override def memUsageString(prefix: String): String = writer.memUsageString(prefix)
}
