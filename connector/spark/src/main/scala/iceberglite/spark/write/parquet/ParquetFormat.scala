package iceberglite.spark.write.parquet

import iceberglite.data.parquet.{ParquetSettings, ParquetShape}
import iceberglite.io.{DataOutput, FileIO, MetricsModes, ParquetSchemas}
import iceberglite.spark.write.{DataFileFormat, DataFileWriter, InputColumns, InputField, NewDataFiles}
import iceberglite.spec.{FileFormat, Schema}

/**
 * Parquet files of a table.
 *
 * @param keyValues what the footer holds besides, such as the table's schema
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

  override def newFiles(): NewDataFiles = new Files

  final private class Files extends NewDataFiles {
    private val schema: Schema = InputColumns.schemaOf(input, schemaId)
    private val messageType = ParquetSchemas.of(schema)
    private val codecs = settings.codecs
    private val shape =
      ParquetShape(messageType, settings.properties, codecs, settings.compression, settings, keyValues)

    override def open(path: String): DataFileWriter =
      new ParquetDataFile(DataOutput.of(io, path), RowShredder.of(input, messageType), shape, schema, modes)

    override def close(): Unit = codecs.release()
  }
}
