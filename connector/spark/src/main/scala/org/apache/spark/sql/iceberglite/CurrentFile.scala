package org.apache.spark.sql.iceberglite

import org.apache.spark.rdd.InputFileBlockHolder

/** Sets the result of `input_file_name()` in a task. Only code in Spark's packages can set it. */
object CurrentFile {
  def set(path: String, start: Long, length: Long): Unit = InputFileBlockHolder.set(path, start, length)
  def unset(): Unit = InputFileBlockHolder.unset()
}
