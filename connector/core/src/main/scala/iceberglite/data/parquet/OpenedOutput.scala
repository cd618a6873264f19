package iceberglite.data.parquet

import org.apache.parquet.column.ParquetProperties
import org.apache.parquet.hadoop.ParquetFileWriter
import org.apache.parquet.io.{OutputFile, PositionOutputStream}

import iceberglite.encryption.FileKey
import iceberglite.parquet.ParquetEncryption

/** Keeps the stream and the length of a file, because Parquet's writer does not return them. */
final private[parquet] class OpenedOutput(output: OutputFile) extends OutputFile {
  private var stream: Option[PositionOutputStream] = None
  private var closed = false
  private var position = 0L

  /** Length of the file in bytes; 0 until Parquet's writer has closed the file. */
  def length: Long = position

  /**
   * Returns a writer of the file that has already written the magic bytes at the start of the file.
   *
   * @param key the key with which the file is encrypted; absent if it is not encrypted
   */
  def writer(fileSettings: ParquetFileSettings, key: Option[FileKey]): ParquetFileWriter = {
    val file = new ParquetFileWriter(
      this,
      fileSettings.messageType,
      ParquetFileWriter.Mode.CREATE,
      fileSettings.settings.rowGroupSize,
      OpenedOutput.MaxPadding,
      ParquetProperties.DEFAULT_COLUMN_INDEX_TRUNCATE_LENGTH,
      ParquetProperties.DEFAULT_STATISTICS_TRUNCATE_LENGTH,
      ParquetProperties.DEFAULT_PAGE_WRITE_CHECKSUM_ENABLED,
      key.map(ParquetEncryption.encrypting).orNull
    )
    file.start()
    file
  }

  override def create(blockSizeHint: Long): PositionOutputStream = track(output.create(blockSizeHint))
  override def createOrOverwrite(blockSizeHint: Long): PositionOutputStream =
    track(output.createOrOverwrite(blockSizeHint))
  override def supportsBlockSize: Boolean = output.supportsBlockSize
  override def defaultBlockSize: Long = output.defaultBlockSize
  override def getPath: String = output.getPath

  def close(): Unit = if (!closed) {
    closed = true
    stream.foreach(_.close())
  }

  private def track(opened: PositionOutputStream): PositionOutputStream = {
    val tracked = new PositionOutputStream {
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
    tracked
  }
}

private object OpenedOutput {
  private val MaxPadding = 8 << 20
}
