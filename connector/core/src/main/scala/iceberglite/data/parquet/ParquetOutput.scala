package iceberglite.data.parquet

import scala.collection.JavaConverters._

import org.apache.parquet.column.{ColumnWriteStore, ParquetProperties}
import org.apache.parquet.hadoop.metadata.{CompressionCodecName, ParquetMetadata}
import org.apache.parquet.hadoop.{CodecFactory, ColumnChunkPageWriteStore}
import org.apache.parquet.io.OutputFile
import org.apache.parquet.schema.MessageType

import iceberglite.encryption.FileKey
import iceberglite.metrics.SpatialCollector
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.PrimitiveType
import iceberglite.storage.StorageErrors

/**
 * The properties that the Parquet files of a task share.
 *
 * @param codecs the codec factory. All files of a task share it, so that they use a single compressor
 * @param spatial the columns of types geometry and geography by field id, which are binaries in the file
 */
final case class ParquetFileSettings(
    messageType: MessageType,
    properties: ParquetProperties,
    codecs: CodecFactory,
    codec: CompressionCodecName,
    settings: ParquetSettings,
    keyValues: Map[String, String],
    spatial: Map[Int, PrimitiveType] = Map.empty
)

object ParquetFileSettings {

  /** Returns the settings of files with the given schema. */
  def of(
      schema: Schema,
      settings: ParquetSettings,
      codecs: CodecFactory,
      keyValues: Map[String, String]
  ): ParquetFileSettings = {
    val messageType = settings.details.messageType(schema)
    val properties = settings.properties(schema, messageType)
    ParquetFileSettings(
      messageType,
      properties,
      codecs,
      settings.compression,
      settings,
      keyValues,
      spatialColumns(schema)
    )
  }

  private def spatialColumns(schema: Schema): Map[Int, PrimitiveType] = schema.byId.flatMap { case (id, field) =>
    field.fieldType match {
      case t: PrimitiveType if SpatialCollector.isSpatial(t) => Some(id -> t)
      case _ => None
    }
  }
}

/**
 * A Parquet file that is being written. Rows are added to a row group in memory, which is written when it is large
 * enough. To limit the memory of many open files, row groups must be ended early, and the number of buffered bytes must
 * be known. `ParquetWriter` is not used, because its callers cannot end a row group, and its `getDataSize` returns the
 * sum of buffered and written bytes.
 *
 * @param attach called with the columns of each row group before its first row
 * @param key the key with which the file is encrypted; absent if it is not encrypted
 */
final class ParquetOutput(
    output: OutputFile,
    fileSettings: ParquetFileSettings,
    attach: ColumnWriteStore => Unit,
    key: Option[FileKey] = None
) {
  import ParquetOutput._

  private val target = new OpenedOutput(output)
  private val file = target.writer(fileSettings, key)

  private var pages: ColumnChunkPageWriteStore = _
  private var columns: ColumnWriteStore = _
  private var groups = 0
  private var rowsInGroup = 0L
  private var nextMeasurement = FirstMeasurement
  private var inMemory = 0L
  private var written = file.getPos
  beginGroup()

  /** Ends a row. The caller must call this method after it has written the values of the row. */
  def endRow(): Unit = {
    columns.endRecord()
    rowsInGroup += 1
    if (rowsInGroup >= nextMeasurement) measure()
  }

  /** Bytes written so far, including the buffered bytes at the last measurement. */
  def length: Long = written + inMemory

  /** Bytes buffered in memory at the last measurement. */
  def buffered: Long = inMemory

  /**
   * Measures the buffered bytes. Ends the row group if it is full; otherwise, sets the row count at which to measure
   * again. Measuring after each row is too expensive.
   */
  private def measure(): Unit = {
    inMemory = columns.getBufferedSize
    val room = math.min(fileSettings.settings.rowGroupSize - inMemory, fileSettings.settings.targetSize - length)
    if (inMemory >= fileSettings.settings.rowGroupSize) flush()
    else {
      val rowSize = math.max(1L, inMemory / rowsInGroup)
      val stride =
        math.min(fileSettings.settings.details.checkMaxRows.toLong, math.min(room / 2, BytesPerMeasurement) / rowSize)
      nextMeasurement = rowsInGroup + math.max(1L, stride)
    }
  }

  /** Ends the row group if it contains rows. */
  def flush(): Unit = if (rowsInGroup > 0) {
    endGroup()
    beginGroup()
  }

  private def beginGroup(): Unit = {
    pages = new ColumnChunkPageWriteStore(
      fileSettings.codecs.getCompressor(fileSettings.codec),
      fileSettings.messageType,
      fileSettings.properties.getAllocator,
      fileSettings.properties.getColumnIndexTruncateLength,
      fileSettings.properties.getPageWriteChecksumEnabled,
      file.getEncryptor,
      groups
    )
    columns =
      fileSettings.properties.newColumnWriteStore(fileSettings.messageType, new PagesWithoutStatistics(pages), pages)
    attach(columns)
    rowsInGroup = 0
    inMemory = 0
    nextMeasurement = FirstMeasurement
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
    file.end(fileSettings.keyValues.asJava)
    FinishedParquet(file.getFooter, target.length)
  }

  /** Stops writing. The caller must delete the file. */
  def abandon(): Unit = {
    StorageErrors.quietly(columns.close())
    target.close()
  }
}

/** A complete file. @param length length of the file in bytes */
final case class FinishedParquet(footer: ParquetMetadata, length: Long)

private object ParquetOutput {
  private val FirstMeasurement = 10L

  /**
   * The approximate maximum size of the rows between two measurements, in bytes. The open files of a task can exceed
   * the memory limit only by the rows that were added since their last measurements.
   */
  private val BytesPerMeasurement = 1L << 20
}
