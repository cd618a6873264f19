package iceberglite.spark.read.parquet

import scala.collection.JavaConverters._

import org.apache.parquet.column.{ColumnDescriptor, Encoding}
import org.apache.parquet.column.Encoding._
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, ColumnPath, ParquetMetadata}
import org.apache.parquet.schema.MessageType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

import iceberglite.data.parquet.ByteStreamSplit

/**
 * Requirements for reading a file that follow from the encodings of its columns.
 *
 * @param byRows whether the file must be read row by row. This is the case if Spark's vectorized reader cannot decode a
 *   column
 * @param wholePages whether pages must be read as a whole. This is the case if Spark's vectorized reader cannot skip
 *   values of a column
 */
final private[parquet] case class ChunkEncodings(byRows: Boolean, wholePages: Boolean)

private[parquet] object ChunkEncodings {
  private val Dictionaries: Set[Encoding] = Encoding.values.filter(_.usesDictionary).toSet

  /**
   * Returns the requirements for reading a file.
   *
   * @param unreadable creates the error for a column that no reader can decode. Its arguments are the name of the
   *   column and the encoding.
   */
  def of(
      footer: ParquetMetadata,
      requested: MessageType,
      unreadable: (String, Encoding) => Throwable
  ): ChunkEncodings = {
    val columns = requested.getColumns.asScala.map(c => ColumnPath.get(c.getPath: _*) -> c).toMap
    val chunkEncodings = for {
      group <- footer.getBlocks.asScala
      chunk <- group.getColumns.asScala
      column <- columns.get(chunk.getPath)
    } yield {
      val physical = column.getPrimitiveType.getPrimitiveTypeName
      val encodings = valueEncodings(chunk, column)
      encodings.find(e => !hasVectorizedDecoder(physical, e) && !hasRecordDecoder(physical, e))
        .foreach(e => throw unreadable(chunk.getPath.toDotString, e))
      ChunkEncodings(
        encodings.exists(!hasVectorizedDecoder(physical, _)) || hasPackedLevels(chunk, column),
        physical == FIXED_LEN_BYTE_ARRAY && encodings.contains(DELTA_BYTE_ARRAY)
      )
    }
    ChunkEncodings(chunkEncodings.exists(_.byRows), chunkEncodings.exists(_.wholePages))
  }

  /**
   * Returns the encodings of the values of a column chunk. Old writers write no page encoding statistics, and list the
   * encodings of values and of levels together.
   */
  private def valueEncodings(chunk: ColumnChunkMetaData, column: ColumnDescriptor): Set[Encoding] =
    Option(chunk.getEncodingStats) match {
      case Some(pages) => pages.getDataEncodings.asScala.toSet
      case None =>
        val encodings = chunk.getEncodings.asScala.toSet.filterNot(isPackedLevel)
        if (column.getPrimitiveType.getPrimitiveTypeName == BOOLEAN) encodings else encodings - RLE
    }

  /**
   * Whether an encoding is BIT_PACKED, which is used only for levels. Writers list BIT_PACKED for levels that are
   * always zero, and very old writers also use it for other levels.
   */
  private def isPackedLevel(e: Encoding): Boolean = e.name == "BIT_PACKED"

  /**
   * Whether the levels of a chunk are encoded with BIT_PACKED. Writers list this encoding even if a chunk has no
   * levels.
   */
  private def hasPackedLevels(chunk: ColumnChunkMetaData, column: ColumnDescriptor): Boolean = {
    val encodings = chunk.getEncodings.asScala
    encodings.exists(isPackedLevel) && column.getMaxDefinitionLevel > 0 &&
    (column.getMaxRepetitionLevel > 0 || !encodings.exists(_ == RLE))
  }

  /** Whether Spark's vectorized reader has a decoder for values of a physical type in an encoding. */
  private def hasVectorizedDecoder(physical: PrimitiveTypeName, e: Encoding): Boolean = e == PLAIN || (physical match {
    case BOOLEAN => e == RLE
    case INT32 | INT64 => e == DELTA_BINARY_PACKED || Dictionaries(e)
    case FLOAT | DOUBLE | INT96 => Dictionaries(e)
    case BINARY => e == DELTA_LENGTH_BYTE_ARRAY || e == DELTA_BYTE_ARRAY || Dictionaries(e)
    case FIXED_LEN_BYTE_ARRAY => e == DELTA_BYTE_ARRAY || Dictionaries(e)
  })

  /** Whether Parquet's own record reader can decode values that Spark's vectorized reader cannot decode. */
  private def hasRecordDecoder(physical: PrimitiveTypeName, e: Encoding): Boolean =
    e == BYTE_STREAM_SPLIT && ByteStreamSplit.supports(physical)
}
