package iceberglite.spark.write

import org.apache.spark.{TaskContext, TaskKilledException}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.{DataWriter, WriterCommitMessage}
import org.apache.spark.sql.iceberglite.TaskOutput

import iceberglite.data.FileToCopy
import iceberglite.spark.constraint.RowChecker
import iceberglite.spec.partition.PartitionTuple

/**
 * Writes the rows of one task into data files. The files of a failed task are removed.
 *
 * @param changeColumnIndex the index of the column with the [[RowChangeCode]] of each row; absent if there is no such
 *   column
 * @param constraints checks new rows against the CHECK constraints and generated columns of the table; absent if there
 *   are none. Unchanged rows are not checked
 * @param geometries checks the geometries of new rows; absent if the writers of the files check the geometries of all
 *   rows
 */
final private[iceberglite] class TaskWriter(
    files: TaskFiles,
    router: RowRouter,
    changeColumnIndex: Option[Int],
    constraints: Option[RowChecker],
    geometries: Option[GeometryCheck]
) extends DataWriter[InternalRow] {
  private val checker = constraints.orNull
  private val geometryCheck = geometries.orNull
  private val changeOrdinal = changeColumnIndex.getOrElse(-1)
  private var records = 0L
  private var inserted = 0L
  private var updated = 0L
  private var deleted = 0L

  override def write(row: InternalRow): Unit = if (changeOrdinal < 0 || countChange(row.getInt(changeOrdinal))) {
    if (changeOrdinal < 0 || RowChangeCode.isChange(row.getInt(changeOrdinal))) {
      if (checker != null) checker.require(row)
      if (geometryCheck != null) geometryCheck.require(row)
    }
    router.put(row)
    records += 1
  }

  /**
   * Writes the rows of existing files, in the same order.
   *
   * @param partition the partition of all rows
   * @return false if nothing was written, because the rows must be read and written one by one
   */
  def copy(sources: Vector[FileToCopy], partition: PartitionTuple): Boolean = {
    val copied = files.copy(sources, partition)
    records += copied.getOrElse(0L)
    copied.isDefined
  }

  /** Counts a row by its change. @return whether the row is written */
  private def countChange(change: Int): Boolean = {
    change match {
      case RowChangeCode.Updated => updated += 1
      case RowChangeCode.Inserted => inserted += 1
      case RowChangeCode.Deleted => deleted += 1
      case _ =>
    }
    change != RowChangeCode.Deleted
  }

  override def commit(): WriterCommitMessage = {
    router.finish()
    // Spark ignores the result of a killed task. After a failure, Spark calls `abort`, which removes the files.
    if (Option(TaskContext.get()).exists(_.isInterrupted()))
      throw new TaskKilledException("killed while its files were closed")
    TaskOutput.add(files.byteCount, records)
    new WrittenFiles(files.written, counts)
  }

  override def abort(): Unit = files.abandon()

  override def close(): Unit =
    try router.close()
    finally files.close()

  override def currentMetricsValues: Array[CustomTaskMetric] = {
    val fileMetrics = WriteMetrics.of(files.fileCount.toLong, records, files.byteCount)
    if (changeOrdinal < 0) fileMetrics else fileMetrics ++ WriteMetrics.of(counts)
  }

  private def counts: RowCounts = RowCounts(inserted, updated, deleted, records - inserted - updated)
}
