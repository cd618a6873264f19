package iceberglite.spark.write

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
    new WrittenFiles(files.written)
  }

  override def abort(): Unit = files.abandon()

  override def close(): Unit =
    try router.close()
    finally files.close()

  override def currentMetricsValues: Array[CustomTaskMetric] =
    WriteMetrics.of(files.fileCount.toLong, records, files.byteCount)
}
