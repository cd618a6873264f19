package iceberglite.spark.write.parquet

import iceberglite.data.parquet.{ParquetSettings, ParquetShape}
import iceberglite.metrics.MetricsModes
import iceberglite.spark.write.files.{DataFileFormat, DataFileWriter, InputColumns, InputField, NewDataFiles}
import iceberglite.spec.file.FileFormat
import iceberglite.spec.schema.Schema
import iceberglite.storage.{DataOutput, FileIO}

/**
 * Parquet files of a table.
 *
 * @param keyValues other entries of the footer, such as the table's schema
 */
final private[write] class ParquetFormat(
    input: Vector[InputField],
    schemaId: Int,
    modes: MetricsModes,
    settings: ParquetSettings,
    keyValues: Map[String, String],
    io: FileIO
) extends DataFileFormat {
  override def format: FileFormat = FileFormat.Parquet

  override def unitSize: Long = settings.rowGroupSize

  override def newFiles(): NewDataFiles = new Files

  final private class Files extends NewDataFiles {
    private val schema: Schema = InputColumns.schemaOf(input, schemaId)
    private val codecs = settings.codecs
    private val shape = ParquetShape.of(schema, settings, codecs, keyValues)

    override def open(path: String): DataFileWriter =
      new ParquetDataFile(DataOutput.of(io, path), RowShredder.of(input, shape.messageType), shape, schema, modes)

    override def close(): Unit = codecs.release()
  }
}
