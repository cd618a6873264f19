package iceberglite.spark.write

import iceberglite.data.orc.OrcSettings
import iceberglite.data.parquet.ParquetSettings
import iceberglite.metrics.MetricsModes
import iceberglite.spark.conf.{CompressionOptions, Settings, WriteOptions}
import iceberglite.spark.write.avro.AvroFormat
import iceberglite.spark.write.files.{DataFileFormat, InputField}
import iceberglite.spark.write.orc.OrcFormat
import iceberglite.spark.write.parquet.ParquetFormat
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.file.FileFormat
import iceberglite.spec.json.SchemaJson
import iceberglite.spec.partition.SortOrder
import iceberglite.spec.property.TableProperty
import iceberglite.table.Table

/** The format of the data files of a write, configured by its options, the session and the table. */
private[write] object DataFileFormats {

  /**
   * Returns the format. @throws iceberglite.spec.IcebergError for an invalid setting, or a codec that is not available
   */
  def of(table: Table, input: Vector[InputField], order: SortOrder, settings: Settings): DataFileFormat = {
    val modes = MetricsModes.of(table.properties, table.schema, order)
    val keyValues = Map("iceberg.schema" -> SchemaJson.toJson(table.schema))
    val id = table.schema.schemaId
    settings(WriteOptions.Format) match {
      case FileFormat.Parquet => new ParquetFormat(input, id, modes, parquet(table, settings), keyValues, table.io)
      case FileFormat.Orc => new OrcFormat(input, id, modes, orc(table, settings), keyValues, table.io)
      case FileFormat.Avro =>
        val codec = settings(CompressionOptions.codec(TableProperty.AvroCodec))
        val level = CompressionOptions.level(TableProperty.AvroCompressionLevel).given(settings)
        new AvroFormat(input, id, modes, codec, level, keyValues, table.io)
      case FileFormat.Puffin =>
        throw Unsupported(s"rows in ${FileFormat.Puffin.name} files", WriteOptions.Format.expected)
    }
  }

  private def parquet(table: Table, settings: Settings): ParquetSettings = {
    val codec = CompressionOptions.codec(TableProperty.ParquetCodec)
    // The table's codec need not be available if another one is requested.
    ParquetSettings.of(table.properties - TableProperty.ParquetCodec.key).copy(
      codec = ParquetSettings.codecOf(settings(codec), codec.key),
      level = CompressionOptions.level(TableProperty.ParquetCompressionLevel).given(settings),
      targetSize = settings(WriteOptions.TargetFileSize)
    )
  }

  private def orc(table: Table, settings: Settings): OrcSettings = OrcSettings.of(table.properties).copy(
    codec = settings(CompressionOptions.codec(TableProperty.OrcCodec)),
    strategy = settings(CompressionOptions.Strategy),
    targetSize = settings(WriteOptions.TargetFileSize)
  )
}
