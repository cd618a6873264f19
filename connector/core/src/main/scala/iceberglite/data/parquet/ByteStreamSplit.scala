package iceberglite.data.parquet

import java.nio.{ByteBuffer, ByteOrder}

import org.apache.parquet.bytes.{BytesInput, BytesUtils}
import org.apache.parquet.column.page.{DataPage, DataPageV1, DataPageV2}
import org.apache.parquet.column.{ColumnDescriptor, Encoding}
import org.apache.parquet.io.ParquetDecodingException
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

/**
 * Decodes pages with the encoding BYTE_STREAM_SPLIT. Such a page contains the first bytes of all values, followed by
 * the second bytes of all values, and so on (Parquet specification: "Byte Stream Split"). This version of Parquet's
 * library supports this encoding only for floats and doubles, but newer writers use the encoding for all types of fixed
 * width.
 */
private[iceberglite] object ByteStreamSplit {

  /** Returns whether values of a physical type may use this encoding. */
  def supports(physical: PrimitiveTypeName): Boolean = physical match {
    case FLOAT | DOUBLE | INT32 | INT64 | FIXED_LEN_BYTE_ARRAY => true
    case BOOLEAN | BINARY | INT96 => false
  }

  /** Returns a page with this encoding as a page in plain encoding; other pages are returned unchanged. */
  private[parquet] def decode(page: DataPage, column: ColumnDescriptor): DataPage =
    page.accept(new DataPage.Visitor[DataPage] {
      override def visit(v1: DataPageV1): DataPage =
        if (v1.getValueEncoding == Encoding.BYTE_STREAM_SPLIT) ofV1(v1, column) else v1
      override def visit(v2: DataPageV2): DataPage =
        if (v2.getDataEncoding == Encoding.BYTE_STREAM_SPLIT) ofV2(v2, column) else v2
    })

  private def ofV1(page: DataPageV1, column: ColumnDescriptor): DataPage = {
    val bytes = page.getBytes.toByteBuffer.slice().order(ByteOrder.LITTLE_ENDIAN)
    val values = page.getValueCount
    val afterRepetitions = afterLevels(bytes, 0, page.getRlEncoding, column.getMaxRepetitionLevel, values)
    val start = afterLevels(bytes, afterRepetitions, page.getDlEncoding, column.getMaxDefinitionLevel, values)
    val plain = new Array[Byte](bytes.capacity)
    bytes.get(plain, 0, start)
    joinBytes(bytes, start, plain, width(column))
    new DataPageV1(
      BytesInput.from(plain),
      values,
      plain.length,
      page.getStatistics,
      page.getRlEncoding,
      page.getDlEncoding,
      Encoding.PLAIN
    )
  }

  private def ofV2(page: DataPageV2, column: ColumnDescriptor): DataPage = {
    val bytes = page.getData.toByteBuffer.slice()
    val plain = new Array[Byte](bytes.capacity)
    joinBytes(bytes, 0, plain, width(column))
    DataPageV2.uncompressed(
      page.getRowCount,
      page.getNullCount,
      page.getValueCount,
      page.getRepetitionLevels,
      page.getDefinitionLevels,
      Encoding.PLAIN,
      BytesInput.from(plain),
      page.getStatistics
    )
  }

  /** Returns the position after the repetition or definition levels that begin at `start`, in a page of version 1. */
  private def afterLevels(bytes: ByteBuffer, start: Int, encoding: Encoding, maxLevel: Int, values: Int): Int =
    if (maxLevel == 0) start
    else {
      val length =
        if (encoding == Encoding.RLE && start + 4 <= bytes.capacity) 4L + bytes.getInt(start)
        else (values.toLong * BytesUtils.getWidthFromMaxInt(maxLevel) + 7) / 8
      if (length < 0 || start + length > bytes.capacity) {
        throw new ParquetDecodingException(s"A page of ${bytes.capacity} bytes claims $length bytes of levels")
      }
      start + length.toInt
    }

  private def width(column: ColumnDescriptor): Int = column.getPrimitiveType.getPrimitiveTypeName match {
    case INT32 | FLOAT => 4
    case INT64 | DOUBLE => 8
    case FIXED_LEN_BYTE_ARRAY => column.getPrimitiveType.getTypeLength
    case other => throw new ParquetDecodingException(s"BYTE_STREAM_SPLIT is not supported for type $other: $column")
  }

  /**
   * Converts values to plain encoding.
   *
   * @param split the encoded values from `start` to the end
   * @param plain receives the converted values, from `start` to the end
   */
  private def joinBytes(split: ByteBuffer, start: Int, plain: Array[Byte], width: Int): Unit = {
    val length = plain.length - start
    if (width == 0 || length % width != 0) {
      throw new ParquetDecodingException(
        s"The page has $length bytes of values, which is not a multiple of the value size of $width bytes"
      )
    }
    val count = length / width
    var stream = 0
    while (stream < width) {
      var value = 0
      var from = start + stream * count
      var to = start + stream
      while (value < count) {
        plain(to) = split.get(from)
        value += 1
        from += 1
        to += width
      }
      stream += 1
    }
  }
}
