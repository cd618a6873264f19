package iceberglite.data.parquet.copy

import scala.collection.JavaConverters._

import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.{BlockMetaData, ColumnChunkMetaData, CompressionCodecName, ParquetMetadata}
import org.apache.parquet.io.{InputFile, ParquetDecodingException}
import org.apache.parquet.schema.MessageType

import iceberglite.data.FileToCopy
import iceberglite.data.parquet.GuardedPages
import iceberglite.parquet.ParquetInput
import iceberglite.storage.{FileIO, StorageErrors}

/** A file to copy, with its footer. */
final private[copy] class CopySource(val copied: FileToCopy, val input: InputFile, footer: ParquetMetadata) {
  val schema: MessageType = footer.getFileMetaData.getSchema

  def createdBy: String = footer.getFileMetaData.getCreatedBy

  /** The row groups in the order of the file, with the position of their first row in the file. */
  val groups: Vector[SourceGroup] = {
    val blocks = footer.getBlocks.asScala.toVector
    blocks.zip(blocks.scanLeft(0L)(_ + _.getRowCount)).map { case (block, first) =>
      new SourceGroup(this, block, first)
    }
  }

  /**
   * Whether the columns can be copied (see [[CopySource.isReadable]]), and the file was written by parquet-mr, which by
   * default does not truncate statistics.
   */
  def isSupported: Boolean =
    Option(createdBy).exists(_.startsWith("parquet-mr")) && groups.forall(_.chunks.values.forall(CopySource.isReadable))
}

private[copy] object CopySource {
  private val Encodings = Set("PLAIN", "RLE", "BIT_PACKED", "PLAIN_DICTIONARY", "RLE_DICTIONARY")

  /** Reads the footer of a file. @throws iceberglite.spec.IcebergError.UnreadableFile if the file is damaged */
  def open(io: FileIO, copied: FileToCopy): CopySource = {
    val input = ParquetInput.of(io, copied.path)
    StorageErrors.wrapReadErrors(copied.path) {
      val reader = ParquetFileReader.open(input)
      val footer =
        try reader.getFooter
        finally reader.close()
      val file = new CopySource(copied, input, footer)
      file.groups.foreach(group => GuardedPages.check(group.block, input.getLength))
      file
    }
  }

  private def isReadable(chunk: ColumnChunkMetaData): Boolean =
    !chunk.isEncrypted && chunk.getEncodings.asScala.forall(encoding => Encodings(encoding.name)) &&
      Option(chunk.getEncodingStats).exists(!_.usesV2Pages)
}

/**
 * A row group of a file.
 *
 * @param firstPosition the position of the first row in the file
 */
final private[copy] class SourceGroup(val file: CopySource, val block: BlockMetaData, val firstPosition: Long) {

  /** The column chunks by path. */
  val chunks: Map[Vector[String], ColumnChunkMetaData] =
    block.getColumns.asScala.iterator.map(chunk => chunk.getPath.toArray.toVector -> chunk).toMap

  def rows: Long = block.getRowCount

  /** The length of the part of the file that contains the column chunks. */
  val span: Long =
    if (chunks.isEmpty) 0L
    else
      chunks.values.iterator.map(c => c.getStartingPos + c.getTotalSize).max - chunks.values.map(_.getStartingPos).min

  /** The expected size of the row group in a file with the given codec, in bytes. */
  def bytesIn(codec: CompressionCodecName): Long = chunks.values.iterator.map { chunk =>
    if (codec == CompressionCodecName.UNCOMPRESSED) chunk.getTotalUncompressedSize else chunk.getTotalSize
  }.sum

  /** Checks the number of rows in a column chunk, so that a damaged file does not shift the rows of other files. */
  def checkRows(chunk: ColumnChunkMetaData, chunkRows: Long): Unit =
    if (chunkRows != rows) throw new ParquetDecodingException(
      s"Column ${chunk.getPath} has $chunkRows rows, but its row group has $rows rows"
    )
}
