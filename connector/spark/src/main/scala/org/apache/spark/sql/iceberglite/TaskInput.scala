package org.apache.spark.sql.iceberglite

import org.apache.spark.TaskContext
import org.apache.spark.deploy.SparkHadoopUtil

/** The input metrics of a task, which Spark's web UI shows. Only code in Spark's packages can set them. */
object TaskInput {

  /** Runs a function that reads files in this thread, and adds the bytes read to the metrics of the current task. */
  def counted[A](read: => A): A = {
    val bytesRead = SparkHadoopUtil.get.getFSBytesReadOnThreadCallback()
    try read
    finally Option(TaskContext.get).foreach(_.taskMetrics.inputMetrics.incBytesRead(bytesRead()))
  }
}
