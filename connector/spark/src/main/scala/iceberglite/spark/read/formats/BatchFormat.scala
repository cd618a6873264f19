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
   * Opens a part of a file.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile for any error in the file
   */
  def open(task: FileTask, read: FileRead): FileBatches
}

/**
 * The parameters for reading a file, in addition to its [[FileTask]].
 *
 * @param fields columns of the table and metadata columns, in the order of the result, followed by columns that only
 *   the deletes need
 * @param mapping the table's name mapping, for files without field ids
 * @param values provides values that are not in the file but in the table's metadata
 * @param deletes the deletes of the file; absent if no row is deleted
 * @param conf the configuration of the table's storage, with the settings that Spark's Parquet reader needs
 * @param tableName the name of the table, for messages
 */
final private[read] case class FileRead(
    fields: Vector[NestedField],
    mapping: Option[NameMapping],
    values: FileValues,
    deletes: Option[FileDeletes],
    settings: BatchSettings,
    conf: Configuration,
    io: FileIO,
    tableName: String
) {

  /** The columns of the scan in Avro and ORC files. */
  def columns: FileColumns = new FileColumns(fields, mapping, values)
}
