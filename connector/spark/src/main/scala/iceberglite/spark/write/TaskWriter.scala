package iceberglite.spark.write

import org.apache.spark.{TaskContext, TaskKilledException}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.{DataWriter, WriterCommitMessage}

/** Writes the rows of one task into data files. Nothing of a task that fails stays. */
final private[write] class TaskWriter(files: TaskFiles, router: RowRouter) extends DataWriter[InternalRow] {
  private var records = 0L

  override def write(row: InternalRow): Unit = {
    router.put(row)
    records += 1
  }

  override def commit(): WriterCommitMessage = {
    router.finish()
    // Nobody would hear of the files of a task that was killed meanwhile; now Spark has them removed.
    if (Option(TaskContext.get).exists(_.isInterrupted))
      throw new TaskKilledException("killed while its files were closed")
    new WrittenFiles(files.written)
  }

  override def abort(): Unit = files.abandon()

  override def close(): Unit =
    try router.close()
    finally files.close()

  override def currentMetricsValues: Array[CustomTaskMetric] =
    WriteMetrics.of(files.fileCount.toLong, records, files.byteCount)
}
