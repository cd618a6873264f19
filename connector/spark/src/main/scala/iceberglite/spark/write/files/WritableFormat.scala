package iceberglite.spark.write.files

import iceberglite.metrics.MetricsModes
import iceberglite.spark.conf.Settings
import iceberglite.spec.file.FileFormat
import iceberglite.table.Table

/**
 * A format in which Spark's rows can be written. A new format needs an implementation and a line in
 * `DataFileFormats.all`.
 */
private[write] trait WritableFormat {
  def format: FileFormat

  /**
   * Returns this format with the settings of a write.
   *
   * @throws iceberglite.spec.IcebergError if a setting is invalid, or if a codec is not available
   */
  def of(files: FilesOfWrite): DataFileFormat
}

/**
 * The settings of a write that all formats have in common.
 *
 * @param input the columns to store, and the sources of their values
 * @param keyValues further entries of the files' metadata, such as the table's schema
 */
final private[write] case class FilesOfWrite(
    table: Table,
    input: Vector[InputField],
    modes: MetricsModes,
    keyValues: Map[String, String],
    settings: Settings
) {
  def schemaId: Int = table.schema.schemaId
}
