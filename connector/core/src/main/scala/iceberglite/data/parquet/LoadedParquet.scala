package iceberglite.data.parquet

import java.util.HashMap

import scala.collection.JavaConverters._

import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.column.{ColumnDescriptor, Encoding}
import org.apache.parquet.column.page.{PageReadStore, PageReader}
import org.apache.parquet.compression.CompressionCodecFactory
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.{
  BlockMetaData,
  ColumnChunkMetaData,
  ColumnPath,
  FileMetaData,
  ParquetMetadata
}
import org.apache.parquet.io.{InputFile, ParquetDecodingException, SeekableInputStream}

/**
 * A Parquet file in memory. Its footer is decoded only once, although its columns may be read one after the other.
 *
 * @param path the path of the file, for messages
 */
final private[parquet] class LoadedParquet(path: String, file: InputFile) {
  private lazy val footer: ParquetMetadata = {
    val stream = file.newStream()
    try ParquetFileReader.readFooter(file, ParquetReadOptions.builder().build(), stream)
    finally stream.close()
  }

  /** Opens the file. The footer is decoded if it has not been decoded yet. */
  def open(): OpenParquet = new OpenParquet {
    private val codecs = new GuardedPages.Codecs(path)
    private val stream = file.newStream()

    override def metadata: FileMetaData = footer.getFileMetaData

    override def groups(plan: FileReadPlan): Iterator[GroupRecords] =
      footer.getBlocks.iterator.asScala.flatMap { group =>
        GuardedPages.check(group, file.getLength)
        if (group.getRowCount == 0) None
        else {
          val loaded = new LoadedGroup(group, stream, codecs)
          Some(new RecordAssembler(plan, GuardedPages.of(loaded), loaded.isPlain))
        }
      }

    override def close(): Unit =
      try stream.close()
      finally codecs.release()
  }
}

/** A row group of a file in memory. */
final private class LoadedGroup(group: BlockMetaData, file: SeekableInputStream, codecs: CompressionCodecFactory)
    extends PageReadStore {
  private val chunks = new HashMap[ColumnPath, ColumnChunkMetaData]
  group.getColumns.forEach { chunk =>
    chunks.put(chunk.getPath, chunk)
    ()
  }

  override def getRowCount: Long = group.getRowCount

  /** Returns whether all pages of a column have version 1 and plain encoding, according to the footer. */
  def isPlain(column: ColumnDescriptor): Boolean = {
    val pages = chunkOf(column).getEncodingStats
    pages != null && !pages.usesV2Pages && !pages.hasDictionaryPages && !pages.getDataEncodings.isEmpty &&
    pages.getDataEncodings.asScala.forall(_ == Encoding.PLAIN)
  }

  private def chunkOf(column: ColumnDescriptor): ColumnChunkMetaData = {
    val path = ColumnPath.get(column.getPath: _*)
    Option(chunks.get(path)).getOrElse(throw new ParquetDecodingException(s"A row group has no column $path"))
  }

  override def getPageReader(column: ColumnDescriptor): PageReader = {
    val chunk = chunkOf(column)
    // Without lists, a column has one value in each row, and with lists at least one. A column with fewer values would
    // end before the row group.
    val (values, isList) = (chunk.getValueCount, column.getMaxRepetitionLevel > 0)
    if (values < group.getRowCount || !isList && values > group.getRowCount)
      throw new ParquetDecodingException(
        s"The column ${chunk.getPath} has $values values in a row group of ${group.getRowCount} rows"
      )
    val bytes = new Array[Byte](chunk.getTotalSize.toInt)
    file.seek(chunk.getStartingPos)
    file.readFully(bytes)
    new LoadedPages(bytes, 0, bytes.length, chunk, codecs.getDecompressor(chunk.getCodec))
  }
}
