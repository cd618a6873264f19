package iceberglite.spark.read.formats

import org.apache.hadoop.conf.Configuration

import iceberglite.spark.read.deletes.FileDeletes
import iceberglite.spark.read.files.{BatchSettings, FileBatches, FileColumns, FileTask, FileValues}
import iceberglite.spec.file.FileFormat
import iceberglite.spec.schema.NameMapping
import iceberglite.spec.types.NestedField
import iceberglite.storage.FileIO

/** Reads data files of one format. Open by design: a format is one member, and one line in `BatchFormats.all`. */
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
 * What a task reads of a file.
 *
 * @param fields columns of the table and metadata columns, in the order of the result, including those for deletes
 * @param mapping the table's field ids for files without field ids
 * @param values the values that the table's metadata has for its files
 * @param deletes absent if no row is deleted
 * @param conf of the table's storage, prepared for Parquet
 * @param tableName for messages
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

  /** The columns in files of the formats that core reads. */
  def columns: FileColumns = new FileColumns(fields, mapping, values)
}
