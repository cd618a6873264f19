package iceberglite.spark.read.formats

import org.apache.hadoop.conf.Configuration

import iceberglite.spark.read.deletes.FileDeletes
import iceberglite.spark.read.files.{BatchSettings, FileBatches, FileColumns, FileTask, FileValues}
import iceberglite.spec.file.FileFormat
import iceberglite.spec.schema.NameMapping
import iceberglite.spec.types.NestedField
import iceberglite.storage.FileIO

/** Reads data files of one format. The supported formats are listed in `BatchFormats`. */
private[read] trait BatchFormat {
  def format: FileFormat

  /**
   * Opens a split of a data file.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file is invalid or cannot be read
   */
  def open(task: FileTask, read: FileReadParameters): FileBatches
}

/**
 * The parameters for reading a file, in addition to its [[FileTask]].
 *
 * @param fields columns of the table and metadata columns, in the order of the result, followed by columns that only
 *   the deletes need
 * @param mapping the table's name mapping, for files without field ids
 * @param values provides the values that are in the table's metadata instead of the file
 * @param deletes the deletes that apply to the file; absent if no row is deleted
 * @param conf the configuration of the table's storage, with the settings that Spark's Parquet reader needs
 * @param tableName the name of the table, for messages
 */
final private[read] case class FileReadParameters(
    fields: Vector[NestedField],
    mapping: Option[NameMapping],
    values: FileValues,
    deletes: Option[FileDeletes],
    settings: BatchSettings,
    conf: Configuration,
    io: FileIO,
    tableName: String
) {

  /** Maps the columns of the scan to the columns of Avro and ORC files. */
  def columns: FileColumns = new FileColumns(fields, mapping, values)
}
