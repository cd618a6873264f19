package iceberglite.spark.write.orc

import org.apache.orc.TypeDescription.RowBatchVersion

import iceberglite.spark.conf.{CompressionOptions, WriteOptions}
import iceberglite.spec.property.TableProperty
import iceberglite.data.orc.{OrcFileSettings, OrcOutput, OrcSchemas, OrcSettings}
import iceberglite.metrics.MetricsModes
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
import iceberglite.spec.schema.Schema
import iceberglite.storage.FileIO

/**
 * The ORC format with the settings of one write.
 *
 * @param keyValues further entries of the file footer, such as the table's schema
 */
final private[write] class OrcFormat(
    input: Vector[InputField],
    schemaId: Int,
    modes: MetricsModes,
    settings: OrcSettings,
    keyValues: Map[String, String],
    io: FileIO
) extends DataFileFormat {
  override def format: FileFormat = FileFormat.Orc

  override def unitSize: Long = settings.stripeSize

  /** Returns false, because the writer limits its memory by the sizes of Spark's rows. */
  override def acceptsVectors: Boolean = false

  override def newFiles(): NewDataFiles = new Files

  final private class Files extends NewDataFiles {
    private val schema: Schema = InputColumns.schemaOf(input, schemaId)
    private val fileSettings =
      new OrcFileSettings(OrcSchemas.of(schema), settings, keyValues, RowBatchVersion.USE_DECIMAL64)

    override def open(path: String): DataFileWriter = {
      val stream = new NewStream(io, path)
      new OrcDataFile(path, stream, OrcOutput.open(stream.io, path, fileSettings), input, schema, modes)
    }

    override def copies(files: Vector[FileToCopy], targetSize: Long): Option[DataFileCopies] = None

    override def close(): Unit = ()
  }
}

private[write] object OrcFormat extends WritableFormat {
  override def format: FileFormat = FileFormat.Orc

  override def of(files: FilesOfWrite): DataFileFormat =
    new OrcFormat(files.input, files.schemaId, files.modes, settingsOf(files), files.keyValues, files.table.io)

  private def settingsOf(files: FilesOfWrite): OrcSettings = OrcSettings.of(files.table.properties).copy(
    codec = files.settings(CompressionOptions.codec(TableProperty.OrcCodec)),
    strategy = files.settings(CompressionOptions.Strategy),
    targetSize = files.settings(WriteOptions.TargetFileSize)
  )
}
