package iceberglite.data.parquet

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.parquet.column.{ColumnWriteStore, ParquetProperties}
import org.apache.parquet.hadoop.metadata.{CompressionCodecName, ParquetMetadata}
import org.apache.parquet.hadoop.{CodecFactory, ColumnChunkPageWriteStore, ParquetFileWriter}
import org.apache.parquet.io.{OutputFile, PositionOutputStream}
import org.apache.parquet.schema.MessageType

import iceberglite.spec.Schema

/**
 * What the Parquet files of a task have in common.
 *
 * @param codecs gives all of them one compressor, which takes one page after the other, whichever file it is of
 */
final case class ParquetShape(
    messageType: MessageType,
    properties: ParquetProperties,
    codecs: CodecFactory,
    codec: CompressionCodecName,
    settings: ParquetSettings,
    keyValues: Map[String, String]
)

object ParquetShape {

  /** Of the files of a schema. */
  def of(
      schema: Schema,
      settings: ParquetSettings,
      codecs: CodecFactory,
      keyValues: Map[String, String]
  ): ParquetShape = {
    val messageType = settings.details.messageType(schema)
    val properties = settings.properties(schema, messageType)
    ParquetShape(messageType, properties, codecs, settings.compression, settings, keyValues)
  }
}

/**
 * A Parquet file in the making: rows go to the columns of a row group in memory, and that to the file when it is large
 * enough. Parquet's own writer hides when it does that, so that many open files could not share the memory of a task.
 *
 * @param attach is given the columns of each row group before its rows come
 */
final class ParquetOutput(output: OutputFile, shape: ParquetShape, attach: ColumnWriteStore => Unit) {
  import ParquetOutput._

  private val target = new OpenedOutput(output)
  private val file = new ParquetFileWriter(
    target,
    shape.messageType,
    ParquetFileWriter.Mode.CREATE,
    shape.settings.rowGroupSize,
    MaxPadding,
    ParquetProperties.DEFAULT_COLUMN_INDEX_TRUNCATE_LENGTH,
    ParquetProperties.DEFAULT_STATISTICS_TRUNCATE_LENGTH,
    ParquetProperties.DEFAULT_PAGE_WRITE_CHECKSUM_ENABLED
  )
  file.start()

  private var pages: ColumnChunkPageWriteStore = _
  private var columns: ColumnWriteStore = _
  private var groups = 0
  private var rowsInGroup = 0L
  private var nextLook = FirstLook
  private var inMemory = 0L
  private var written = file.getPos
  beginGroup()

  /** After the values of each row. */
  def endRow(): Unit = {
    columns.endRecord()
    rowsInGroup += 1
    if (rowsInGroup >= nextLook) look()
  }

  /** Bytes so far, with those in memory as they were when last looked at. */
  def length: Long = written + inMemory

  /** Bytes in memory. */
  def buffered: Long = inMemory

  /** Measures what is in memory; to do that for each row would cost too much. */
  private def look(): Unit = {
    inMemory = columns.getBufferedSize
    val room = math.min(shape.settings.rowGroupSize - inMemory, shape.settings.targetSize - length)
    if (inMemory >= shape.settings.rowGroupSize) flush()
    else {
      val rowSize = math.max(1L, inMemory / rowsInGroup)
      val stride = math.min(shape.settings.details.checkMaxRows.toLong, math.min(room / 2, BytesBetweenLooks) / rowSize)
      nextLook = rowsInGroup + math.max(1L, stride)
    }
  }

  /** Ends the row group, if there are rows in it. */
  def flush(): Unit = if (rowsInGroup > 0) {
    endGroup()
    beginGroup()
  }

  private def beginGroup(): Unit = {
    pages = new ColumnChunkPageWriteStore(
      shape.codecs.getCompressor(shape.codec),
      shape.messageType,
      shape.properties.getAllocator,
      shape.properties.getColumnIndexTruncateLength,
      shape.properties.getPageWriteChecksumEnabled,
      null,
      groups
    )
    columns = shape.properties.newColumnWriteStore(shape.messageType, new UnboundedPages(pages), pages)
    attach(columns)
    rowsInGroup = 0
    inMemory = 0
    nextLook = FirstLook
  }

  private def endGroup(): Unit = {
    file.startBlock(rowsInGroup)
    columns.flush()
    pages.flushToFileWriter(file)
    file.endBlock()
    columns.close()
    groups += 1
    written = file.getPos
    inMemory = 0
  }

  /** Completes the file. */
  def finish(): FinishedParquet = {
    if (rowsInGroup > 0) endGroup() else columns.close()
    file.end(shape.keyValues.asJava)
    FinishedParquet(file.getFooter, target.length)
  }

  /** Gives up; the file is to be deleted. */
  def abandon(): Unit = {
    Try(columns.close())
    target.close()
  }
}

/** @param length of the file in bytes */
final case class FinishedParquet(footer: ParquetMetadata, length: Long)

private object ParquetOutput {
  private val MaxPadding = 8 << 20
  private val FirstLook = 10L

  /** With so many bytes unseen in each, the open files of a task stay close to the memory they may take. */
  private val BytesBetweenLooks = 1L << 20

  /** Parquet's writer does not give up the stream it has opened, nor say how long it became. */
  final private class OpenedOutput(output: OutputFile) extends OutputFile {
    private var stream: Option[PositionOutputStream] = None
    private var closed = false
    private var position = 0L

    def length: Long = position

    override def create(blockSizeHint: Long): PositionOutputStream = remember(output.create(blockSizeHint))
    override def createOrOverwrite(blockSizeHint: Long): PositionOutputStream =
      remember(output.createOrOverwrite(blockSizeHint))
    override def supportsBlockSize: Boolean = output.supportsBlockSize
    override def defaultBlockSize: Long = output.defaultBlockSize
    override def getPath: String = output.getPath

    def close(): Unit = if (!closed) {
      closed = true
      stream.foreach(_.close())
    }

    private def remember(opened: PositionOutputStream): PositionOutputStream = {
      val noted = new PositionOutputStream {
        override def getPos: Long = opened.getPos
        override def write(b: Int): Unit = opened.write(b)
        override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = opened.write(bytes, offset, length)
        override def flush(): Unit = opened.flush()
        override def close(): Unit = {
          position = opened.getPos
          OpenedOutput.this.close()
        }
      }
      stream = Some(opened)
      noted
    }
  }
}
