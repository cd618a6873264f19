package org.apache.spark.sql.iceberglite

import org.apache.spark.TaskContext

/** The output of a task, which Spark's web interface shows. Only packages of Spark can set it. */
object TaskOutput {

  /** Adds files to the output of the current task. */
  def add(bytes: Long, records: Long): Unit =
    Option(TaskContext.get).map(_.taskMetrics.outputMetrics).foreach { output =>
      output.setBytesWritten(output.bytesWritten + bytes)
      output.setRecordsWritten(output.recordsWritten + records)
    }
}
