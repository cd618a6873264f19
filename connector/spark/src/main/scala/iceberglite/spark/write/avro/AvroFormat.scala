package iceberglite.spark.write.avro

import iceberglite.avro.{AvroCodec, AvroContainer}
import iceberglite.data.avro.{AvroFileSettings, AvroRowsOutput}
import iceberglite.metrics.MetricsModes
import iceberglite.spark.conf.CompressionOptions
import iceberglite.data.{FileToCopy, NewStream}
import iceberglite.spark.write.files.{
  DataFileCopies,
  DataFileFormat,
  DataFileWriter,
  FilesOfWrite,
  InputColumns,
  InputField,
  NewDataFiles,
  WritableFormat
}
import iceberglite.spec.file.FileFormat
import iceberglite.spec.property.{AvroCompression, TableProperty}
import iceberglite.storage.FileIO

/**
 * The Avro format with the settings of one write.
 *
 * @param level the level of the codec; absent for the codec's default
 * @param keyValues further entries of the file header, such as the table's schema
 */
final private[write] class AvroFormat(
    input: Vector[InputField],
    schemaId: Int,
    modes: MetricsModes,
    codec: AvroCompression,
    level: Option[Int],
    keyValues: Map[String, String],
    io: FileIO
) extends DataFileFormat {
  override def format: FileFormat = FileFormat.Avro

  override def unitSize: Long = AvroContainer.BlockSize.toLong

  /**
   * Returns false, because the writer reads each value of a row separately. Such reads are slower from column vectors
   * than from Spark's rows.
   */
  override def acceptsVectors: Boolean = false

  override def newFiles(): NewDataFiles = new Files

  final private class Files extends NewDataFiles {
    private val fileSettings =
      AvroFileSettings.of(InputColumns.schemaOf(input, schemaId).asStruct, AvroCodec.of(codec, level), keyValues)

    override def open(path: String): DataFileWriter = {
      val stream = new NewStream(io, path)
      new AvroDataFile(path, stream, new AvroRowsOutput(stream.io, path, fileSettings), input, modes)
    }

    override def copies(files: Vector[FileToCopy], targetSize: Long): Option[DataFileCopies] = None

    override def close(): Unit = ()
  }
}

private[write] object AvroFormat extends WritableFormat {
  override def format: FileFormat = FileFormat.Avro

  override def of(files: FilesOfWrite): DataFileFormat = {
    val codec = files.settings(CompressionOptions.codec(TableProperty.AvroCodec))
    val level = CompressionOptions.level(TableProperty.AvroCompressionLevel).get(files.settings)
    new AvroFormat(files.input, files.schemaId, files.modes, codec, level, files.keyValues, files.table.io)
  }
}
