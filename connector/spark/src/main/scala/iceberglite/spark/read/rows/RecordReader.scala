package iceberglite.spark.read.rows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.iceberglite.CurrentFile

import iceberglite.data.{Record, RecordIterator}
import iceberglite.spark.read.FileTask
import iceberglite.spec.IcebergError.{InvalidArgument, UnreadableFile}

/** The rows of a file that is read row by row. */
final private[read] class RecordReader(
    task: FileTask,
    tableName: String,
    convert: Record => InternalRow,
    open: => RecordIterator
) extends PartitionReader[InternalRow] {
  private lazy val records: RecordIterator = {
    CurrentFile.set(task.path, task.start, task.length)
    isOpen = true
    open
  }
  private var isOpen = false
  private var row: Option[InternalRow] = None

  override def next(): Boolean = FileTask.naming(task, tableName) {
    row =
      try if (records.hasNext) Some(convert(records.next())) else None
      catch {
        case e @ InvalidArgument(_, _, reason) =>
          throw UnreadableFile(task.path, s"data file of table $tableName", reason, Some(e))
      }
    row.isDefined
  }

  override def get(): InternalRow = row.getOrElse(throw new NoSuchElementException("No row is at hand"))

  override def close(): Unit = if (isOpen) {
    isOpen = false
    CurrentFile.unset()
    records.close()
  }
}

/** The rows of several files, one after the other. Each is opened when the one before it is at its end. */
final private[read] class ReadersInTurn(readers: Iterator[PartitionReader[InternalRow]])
    extends PartitionReader[InternalRow] {
  private var current: Option[PartitionReader[InternalRow]] = None

  override def next(): Boolean = {
    while (current.isDefined || readers.hasNext) {
      if (current.isEmpty) current = Some(readers.next())
      if (current.get.next()) return true
      closeCurrent()
    }
    false
  }

  override def get(): InternalRow =
    current.fold(throw new NoSuchElementException("No row is at hand"))((reader: PartitionReader[InternalRow]) =>
      reader.get()
    )

  override def close(): Unit = closeCurrent()

  private def closeCurrent(): Unit = {
    val reader = current
    current = None
    reader.foreach(_.close())
  }
}
