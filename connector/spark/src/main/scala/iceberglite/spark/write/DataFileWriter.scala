package iceberglite.spark.write

import org.apache.spark.sql.catalyst.InternalRow

import iceberglite.spec.{FileFormat, MetricMaps}

/**
 * A format that data files are written in. Open by design: one file for each. Serializable, as tasks make the files.
 */
private[write] trait DataFileFormat extends Serializable {
  def format: FileFormat

  /** About how many bytes of a file are collected in memory before they are written: a row group, a stripe, a block. */
  def unitSize: Long

  /** Gets ready to write files in a task. */
  def newFiles(): NewDataFiles
}

/** The files of one task. */
private[write] trait NewDataFiles extends AutoCloseable {

  /** Makes an empty file. */
  def open(path: String): DataFileWriter
}

/** A data file in the making. */
private[write] trait DataFileWriter {

  /** The row may be overwritten after this. */
  def write(row: InternalRow): Unit

  /** About how long the file would be if it ended here. */
  def length: Long

  /** About how many bytes of it are still in memory. */
  def buffered: Long

  /** Writes out what is in memory, as far as the format lets it: smaller units make the file slower to read. */
  def flush(): Unit

  /** Completes the file. */
  def finish(): FinishedFile

  /** Lets go of the file, which stays incomplete. */
  def abandon(): Unit
}

/** What a complete data file says of itself. */
final private[write] case class FinishedFile(
    recordCount: Long,
    length: Long,
    metrics: MetricMaps,
    splitOffsets: Vector[Long]
)
