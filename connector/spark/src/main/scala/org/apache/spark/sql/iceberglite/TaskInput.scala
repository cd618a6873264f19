package org.apache.spark.sql.iceberglite

import org.apache.spark.TaskContext

/** The input metrics of a task, which Spark's web UI shows. Only code in Spark's packages can set them. */
object TaskInput {

  /** Adds read bytes and records to the input metrics of the current task. */
  def add(bytes: Long, records: Long): Unit =
    Option(TaskContext.get()).map(_.taskMetrics().inputMetrics).foreach { input =>
      input.incBytesRead(bytes)
      input.incRecordsRead(records)
    }
}
