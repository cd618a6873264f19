package iceberglite.spark.write

import iceberglite.metrics.MetricsModes
import iceberglite.spark.conf.{Settings, WriteOptions}
import iceberglite.spark.write.avro.AvroFormat
import iceberglite.spark.write.files.{DataFileFormat, FilesOfWrite, InputField, WritableFormat}
import iceberglite.spark.write.orc.OrcFormat
import iceberglite.spark.write.parquet.ParquetFormat
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.json.SchemaJson
import iceberglite.spec.partition.SortOrder
import iceberglite.table.Table

/**
 * Selects the format of the data files of a write, and its settings, from the write options, the session and the table
 * properties.
 */
private[write] object DataFileFormats {

  /** The formats in which Spark's rows can be written. */
  val all: Seq[WritableFormat] = Seq(ParquetFormat, OrcFormat, AvroFormat)

  /**
   * Returns the format of a write with its settings.
   *
   * @throws iceberglite.spec.IcebergError if a setting is invalid, or if a codec is not available
   */
  def of(table: Table, input: Vector[InputField], order: SortOrder, settings: Settings): DataFileFormat = {
    val modes = MetricsModes.of(table.properties, table.schema, order)
    val keyValues = Map("iceberg.schema" -> SchemaJson.toJson(table.schema))
    val requestedFormat = settings(WriteOptions.Format)
    val format = all.find(_.format == requestedFormat).getOrElse(
      throw Unsupported(s"writing rows to ${requestedFormat.name} files", WriteOptions.Format.expected)
    )
    format.of(FilesOfWrite(table, input, modes, keyValues, settings))
  }
}
