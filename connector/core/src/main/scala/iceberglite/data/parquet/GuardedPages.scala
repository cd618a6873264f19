package iceberglite.data.parquet

import java.nio.ByteBuffer
import java.util.Locale

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.column.page.{DataPage, DictionaryPage, PageReadStore, PageReader}
import org.apache.parquet.compression.CompressionCodecFactory
import org.apache.parquet.compression.CompressionCodecFactory.{BytesInputCompressor, BytesInputDecompressor}
import org.apache.parquet.hadoop.{BadConfigurationException, CodecFactory}
import org.apache.parquet.hadoop.metadata.{BlockMetaData, CompressionCodecName}
import org.apache.parquet.io.ParquetDecodingException
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

import iceberglite.spec.IcebergError.Unsupported

/** Validates the sizes in a file before Parquet's readers allocate memory for them. */
private[iceberglite] object GuardedPages {

  /**
   * Maximum uncompressed size, in bytes, of a page whose compression ratio is not checked. The size is the one that the
   * page header claims.
   */
  private val UncheckedPageSize = 64 << 20

  /** Maximum compression ratio of a larger page, i.e. of its claimed uncompressed size to its stored size. */
  private val MaxRatio = 100L

  /** Checks the sizes of a row group. @throws ParquetDecodingException if the file cannot contain the row group */
  def check(group: BlockMetaData, fileLength: Long): Unit = {
    if (group.getRowCount < 0) throw new ParquetDecodingException(s"A row group claims ${group.getRowCount} rows")
    group.getColumns.asScala.foreach { column =>
      val (start, size) = (column.getStartingPos, column.getTotalSize)
      if (start < 0 || size < 0 || size > fileLength || start > fileLength - size) throw new ParquetDecodingException(
        s"Column ${column.getPath} claims $size bytes at offset $start, but the file has only $fileLength bytes"
      )
    }
  }

  /**
   * Returns the pages of a row group. A dictionary that claims more values than fit into its bytes is rejected. Pages
   * with the encoding BYTE_STREAM_SPLIT are returned in plain encoding; see [[ByteStreamSplit]].
   */
  def of(pages: PageReadStore): PageReadStore = new PageReadStore {
    override def getRowCount: Long = pages.getRowCount
    override def getPageReader(column: ColumnDescriptor): PageReader =
      new GuardedPageReader(column, pages.getPageReader(column))
  }

  final private class GuardedPageReader(column: ColumnDescriptor, pages: PageReader) extends PageReader {
    override def getTotalValueCount: Long = pages.getTotalValueCount

    override def readPage(): DataPage = Option(pages.readPage()).map(ByteStreamSplit.decode(_, column)).orNull

    override def readDictionaryPage(): DictionaryPage = {
      val page = pages.readDictionaryPage()
      Option(page).foreach { p =>
        val bytes = p.getBytes.size
        if (p.getDictionarySize.toLong * minSize > bytes) throw new ParquetDecodingException(
          s"The dictionary of $column claims ${p.getDictionarySize} values in $bytes bytes"
        )
      }
      page
    }

    private def minSize: Int = column.getPrimitiveType.getPrimitiveTypeName match {
      case INT64 | DOUBLE => 8
      case INT96 => 12
      case FIXED_LEN_BYTE_ARRAY => column.getPrimitiveType.getTypeLength
      case INT32 | FLOAT | BINARY => 4
      case BOOLEAN => 1
    }
  }

  /**
   * Parquet's codecs. Pages with an implausible compression ratio are rejected.
   *
   * @param path path of the file, for messages
   */
  final class Codecs(path: String) extends CompressionCodecFactory {
    private val codecs = new CodecFactory(new Configuration(false), 0)

    override def getCompressor(codec: CompressionCodecName): BytesInputCompressor = codecs.getCompressor(codec)

    override def getDecompressor(codec: CompressionCodecName): BytesInputDecompressor = {
      val decompressor = supportedDecompressor(codec)
      new BytesInputDecompressor {
        override def decompress(bytes: BytesInput, size: Int): BytesInput = {
          checkSize(bytes.size, size)
          decompressor.decompress(bytes, size)
        }

        override def decompress(in: ByteBuffer, compressed: Int, out: ByteBuffer, size: Int): Unit = {
          checkSize(compressed.toLong, size)
          decompressor.decompress(in, compressed, out, size)
        }

        override def release(): Unit = decompressor.release()
      }
    }

    private def supportedDecompressor(codec: CompressionCodecName): BytesInputDecompressor =
      try if (codec == CompressionCodecName.ZSTD) ZstdPages.Decompressor else codecs.getDecompressor(codec)
      catch {
        case _: BadConfigurationException => throw Unsupported(
            s"${codec.name.toLowerCase(Locale.ROOT)} compression of the file $path",
            s"Add a jar with ${codec.getHadoopCompressionCodecClassName} to the session, or rewrite the file with zstd"
          )
      }

    override def release(): Unit = codecs.release()
  }

  private def checkSize(compressed: Long, size: Int): Unit =
    if (size < 0 || (size > UncheckedPageSize && size > compressed * MaxRatio)) {
      throw new ParquetDecodingException(s"A page of $compressed bytes claims an uncompressed size of $size bytes")
    }
}
