package org.apache.spark.sql.iceberglite

import org.apache.spark.TaskContext

/** The output metrics of a task, which Spark's web UI shows. Only code in Spark's packages can set them. */
object TaskOutput {

  /** Adds written bytes and records to the output metrics of the current task. */
  def add(bytes: Long, records: Long): Unit =
    Option(TaskContext.get()).map(_.taskMetrics().outputMetrics).foreach { output =>
      output.setBytesWritten(output.bytesWritten + bytes)
      output.setRecordsWritten(output.recordsWritten + records)
    }
}
