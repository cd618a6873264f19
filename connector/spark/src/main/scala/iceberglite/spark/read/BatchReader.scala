package iceberglite.spark.read

import java.io.{FileNotFoundException, InterruptedIOException}
import java.nio.channels.ClosedByInterruptException

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.iceberglite.CurrentFile
import org.apache.spark.sql.vectorized.ColumnarBatch

import iceberglite.spark.read.parquet.ParquetBatches
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.UnreadableFile

/** The batches of the files of one task, one after the other. */
final private[read] class BatchReader(tasks: Vector[FileTask], tableName: String, open: FileTask => ParquetBatches)
    extends PartitionReader[ColumnarBatch] {
  private val waiting: Iterator[FileTask] = tasks.iterator
  private var current: Option[(FileTask, ParquetBatches)] = None

  override def next(): Boolean = {
    while (current.isDefined || waiting.hasNext) {
      current match {
        case Some((task, batches)) => if (naming(task)(batches.next())) return true else closeCurrent()
        case None => openNext()
      }
    }
    false
  }

  override def get(): ColumnarBatch = current match {
    case Some((_, batches)) => batches.batch
    case None => throw new NoSuchElementException(s"No batch of $tableName is at hand")
  }

  override def close(): Unit = closeCurrent()

  private def openNext(): Unit = {
    val task = waiting.next()
    CurrentFile.set(task.path, task.start, task.length)
    current = Some((task, naming(task)(open(task))))
  }

  private def closeCurrent(): Unit = {
    val batches = current.map(_._2)
    current = None
    CurrentFile.unset()
    batches.foreach(_.close())
  }

  /** Whatever is wrong with a file, the user learns which file of which table it is. */
  private def naming[A](task: FileTask)(read: => A): A =
    try read
    catch {
      case e: IcebergError => throw e
      case e @ (_: InterruptedException | _: InterruptedIOException | _: ClosedByInterruptException) => throw e
      case NonFatal(e) => throw UnreadableFile(task.path, s"data file of table $tableName", reason(e), Some(e))
    }

  private def reason(e: Throwable): String = e match {
    case _: FileNotFoundException =>
      "It is not there, although the table refers to it. Restore the file, or read a snapshot without it"
    case _ => s"${e.getMessage}. If the file is damaged, restore it, or read a snapshot without it"
  }
}

/** The same as rows. */
final private[read] class RowReader(batches: BatchReader) extends PartitionReader[InternalRow] {
  private var rows: java.util.Iterator[InternalRow] = java.util.Collections.emptyIterator[InternalRow]
  private var row: Option[InternalRow] = None

  override def next(): Boolean = {
    while (!rows.hasNext && batches.next()) rows = batches.get().rowIterator()
    row = if (rows.hasNext) Some(rows.next()) else None
    row.isDefined
  }

  override def get(): InternalRow = row.getOrElse(throw new NoSuchElementException("No row is at hand"))

  override def close(): Unit = batches.close()
}
