package iceberglite.spark.write

import scala.collection.mutable
import scala.util.Try

import org.apache.spark.sql.catalyst.InternalRow

import iceberglite.data.{FileToCopy, WrittenFile}
import iceberglite.spark.write.files.{DataFileCopies, DataFileWriter, NewDataFiles, RowFaults}
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.spec.file.ContentFile
import iceberglite.spec.partition.{PartitionTuple, SortOrder}
import iceberglite.storage.FileIO
import iceberglite.table.{Cleanup, DataFileNames}

/**
 * The data files that one attempt of a task creates. The names of the files are unique to the attempt, so that the
 * attempt can remove its own files.
 *
 * @param order the sort order of the rows in each file
 * @param table the name of the table, for messages
 */
final private[write] class TaskFiles(
    target: FilesToWrite,
    names: DataFileNames,
    order: SortOrder,
    io: FileIO,
    table: String
) {
  private val files: NewDataFiles = target.format.newFiles()
  private val openFiles = mutable.Set.empty[OpenFile]
  private val finished = mutable.ArrayBuffer.empty[ContentFile]
  private var finishedBytes = 0L

  /** The path of a file to which rows are being copied. */
  private var incompleteCopy = Option.empty[String]

  def written: Array[ContentFile] = finished.toArray

  def fileCount: Int = finished.size + openFiles.size

  /** The total number of bytes of the completed files. */
  def byteCount: Long = finishedBytes

  /** Returns a writer for the files of one partition. A file is created when the first row is written. */
  def partition(tuple: PartitionTuple): PartitionFiles = new PartitionFiles(tuple)

  /**
   * Copies the rows of existing files to new files, in the same order.
   *
   * @param tuple the partition of all rows
   * @return the number of rows; absent if the rows must be read and written one by one
   */
  def copy(sources: Vector[FileToCopy], tuple: PartitionTuple): Option[Long] =
    try files.copies(sources, target.targetSize).map { copies =>
        try Iterator.range(0, copies.count).map(write(copies, _, tuple)).sum
        finally copies.close()
      }
    catch { case failed: StorageFailed => throw RowFaults.ofTable(failed, table) }

  /** Writes one of the new files. @return the number of its rows */
  private def write(copies: DataFileCopies, index: Int, tuple: PartitionTuple): Long = {
    val path = target.locations.path(target.spec, tuple, names.next())
    incompleteCopy = Some(path)
    val written = copies.write(index, path)
    incompleteCopy = None
    add(written, tuple)
    written.recordCount
  }

  private def add(written: WrittenFile, tuple: PartitionTuple): Unit = {
    finished += written.dataFile(target.spec.specId, target.promoted(tuple), order.orderId)
    finishedBytes += written.fileSizeInBytes
  }

  /** Removes all files of the attempt. Called after a failure, or if the task's result is not used. */
  def abandon(): Unit = {
    openFiles.foreach(file => Try(file.writer.abandon()))
    Cleanup.delete(io, openFiles.map(_.path) ++ finished.map(_.path) ++ incompleteCopy)
    openFiles.clear()
    finished.clear()
    incompleteCopy = None
  }

  def close(): Unit = files.close()

  final private class OpenFile(val path: String) {
    val writer: DataFileWriter = files.open(path)
  }

  /** Writes the files of one partition. When a file has reached the target size, the next row begins a new file. */
  final class PartitionFiles private[TaskFiles] (tuple: PartitionTuple) {
    private var current: Option[OpenFile] = None
    private var writer: DataFileWriter = _

    def write(row: InternalRow): Unit =
      try {
        if (writer == null) begin()
        writer.write(row)
        if (writer.length >= target.targetSize) complete()
      } catch { case failed: StorageFailed => throw RowFaults.ofTable(failed, table) }

    /** The number of bytes that the open file buffers in memory. */
    def buffered: Long = if (writer == null) 0L else writer.buffered

    def flush(): Unit =
      try current.foreach(_.writer.flush())
      catch { case failed: StorageFailed => throw RowFaults.ofTable(failed, table) }

    /** Completes the open file. */
    def finish(): Unit =
      try complete()
      catch { case failed: StorageFailed => throw RowFaults.ofTable(failed, table) }

    private def complete(): Unit = current.foreach { file =>
      val writtenFile = file.writer.finish()
      openFiles -= file
      add(writtenFile, tuple)
      current = None
      writer = null
    }

    private def begin(): Unit = {
      val file = new OpenFile(target.locations.path(target.spec, tuple, names.next()))
      openFiles += file
      current = Some(file)
      writer = file.writer
    }
  }
}
