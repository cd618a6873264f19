package org.apache.spark.sql.iceberglite

import org.apache.spark.rdd.InputFileBlockHolder

/** What `input_file_name()` answers; Spark lets only its own packages set it. */
object CurrentFile {
  def set(path: String, start: Long, length: Long): Unit = InputFileBlockHolder.set(path, start, length)
  def unset(): Unit = InputFileBlockHolder.unset()
}
