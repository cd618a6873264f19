package iceberglite.spark.write.files

import org.apache.spark.sql.catalyst.InternalRow

import iceberglite.data.{FileToCopy, WrittenFile}
import iceberglite.spec.file.FileFormat

/**
 * A data file format with the settings of one write. The driver sends it to the tasks, which create the files. Each
 * format has an implementation in its own source file.
 */
private[iceberglite] trait DataFileFormat extends Serializable {
  def format: FileFormat

  /**
   * The approximate number of bytes that a file buffers in memory before it writes them: the size of a row group, a
   * stripe or a block.
   */
  def unitSize: Long

  /**
   * Whether the writer should receive rows that are views of column vectors. False if the writer reads single values,
   * which is slower from column vectors than from Spark's own rows, or if the writer limits its memory by the sizes of
   * Spark's rows.
   */
  def acceptsVectors: Boolean

  /** Creates the object with which a task creates its files. */
  def newFiles(): NewDataFiles
}

/** Creates the data files of one task. */
private[iceberglite] trait NewDataFiles extends AutoCloseable {

  /** Creates an empty file. */
  def open(path: String): DataFileWriter

  /**
   * Prepares new files that will contain the rows of existing files in the same order. [[DataFileCopies.write]] writes
   * the new files. The result is absent if the rows must be read and written one by one.
   *
   * @param files the existing files, at least one, which have the format of the new files
   * @param targetSize the target size of a new file in bytes
   */
  def copies(files: Vector[FileToCopy], targetSize: Long): Option[DataFileCopies]
}

/** New data files that will contain the rows of existing files. [[write]] writes each new file. */
private[iceberglite] trait DataFileCopies extends AutoCloseable {
  def count: Int

  /** Writes one of the new files. If this fails, the incomplete file remains. */
  def write(index: Int, path: String): WrittenFile
}

/** An incomplete data file. */
private[iceberglite] trait DataFileWriter {

  /** Writes a row. The caller may reuse the row object afterwards. */
  def write(row: InternalRow): Unit

  /** The approximate length in bytes that the file would have if it were completed now. */
  def length: Long

  /** The approximate number of buffered bytes. */
  def buffered: Long

  /**
   * Writes the buffered rows to the file, as far as the format allows it. This results in smaller row groups and
   * stripes, which make the file slower to read.
   */
  def flush(): Unit

  /** Completes the file. */
  def finish(): WrittenFile

  /** Releases the resources of the file, which remains incomplete. */
  def abandon(): Unit
}
