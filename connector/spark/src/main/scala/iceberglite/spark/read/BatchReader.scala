package iceberglite.spark.read

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.sql.iceberglite.CurrentFile
import org.apache.spark.sql.vectorized.ColumnarBatch

import iceberglite.spark.error.SparkErrors
import iceberglite.spark.read.deletes.RemovedRowCounter
import iceberglite.spark.read.files.{FileBatches, FileTask}

/**
 * Reads the files of one Spark task, one after the other, and returns their rows as batches.
 *
 * @param open opens a file
 * @param deletedRows counts the rows that the deletes of the opened files remove
 */
final private[read] class BatchReader(
    tasks: Vector[FileTask],
    tableName: String,
    open: FileTask => FileBatches,
    deletedRows: RemovedRowCounter
) extends PartitionReader[ColumnarBatch] {
  private val remaining: Iterator[FileTask] = tasks.iterator
  private var current: Option[(FileTask, FileBatches)] = None
  private var opened = TaskCounts(0L, 0L, 0L)

  override def next(): Boolean = {
    while (current.isDefined || remaining.hasNext) {
      current match {
        case Some((task, batches)) => if (withErrorContext(task)(batches.next())) return true else closeCurrent()
        case None => openNext()
      }
    }
    false
  }

  override def get(): ColumnarBatch = current match {
    case Some((_, batches)) => batches.batch
    case None =>
      throw new NoSuchElementException(s"There is no current batch of $tableName, because next() has not returned true")
  }

  override def close(): Unit = closeCurrent()

  private def openNext(): Unit = {
    val task = remaining.next()
    CurrentFile.set(task.path, task.start, task.length)
    val batches = withErrorContext(task)(open(task))
    opened += TaskCounts(1L, 0L, if (batches.decodesRowByRow) 1L else 0L)
    current = Some((task, batches))
  }

  override def currentMetricsValues(): Array[CustomTaskMetric] =
    ScanMetrics.of(opened + TaskCounts(0L, deletedRows.count, 0L))

  /** Adds the metric values of the previous reader of the same Spark task, so that the metrics cover the whole task. */
  override def initMetricsValues(metrics: Array[CustomTaskMetric]): Unit = opened += ScanMetrics.counts(metrics)

  private def closeCurrent(): Unit = {
    val batches = current.map(_._2)
    current = None
    CurrentFile.unset()
    batches.foreach(_.close())
  }

  private def withErrorContext[A](task: FileTask)(read: => A): A =
    SparkErrors.in(tableName)(FileTask.withErrorContext(task, tableName)(read))
}

/**
 * Returns the rows of batches one by one.
 *
 * @param copy copies a row of a batch. The copy is necessary because a nested vector can return a value for a row that
 *   is null, and Spark's interpreted expressions do not always check for null first. In the copy, the value is null.
 */
final private[read] class RowReader(batches: BatchReader, copy: InternalRow => InternalRow)
    extends PartitionReader[InternalRow] {
  private var rows: java.util.Iterator[InternalRow] = java.util.Collections.emptyIterator[InternalRow]
  private var row: Option[InternalRow] = None

  override def next(): Boolean = {
    while (!rows.hasNext && batches.next()) rows = batches.get().rowIterator()
    row = if (rows.hasNext) Some(copy(rows.next())) else None
    row.isDefined
  }

  override def get(): InternalRow = row.getOrElse(
    throw new NoSuchElementException("There is no current row, because next() has not returned true")
  )

  override def currentMetricsValues(): Array[CustomTaskMetric] = batches.currentMetricsValues()

  override def initMetricsValues(metrics: Array[CustomTaskMetric]): Unit = batches.initMetricsValues(metrics)

  override def close(): Unit = batches.close()
}
