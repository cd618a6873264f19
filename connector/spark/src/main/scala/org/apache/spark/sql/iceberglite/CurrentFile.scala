package org.apache.spark.sql.iceberglite

import org.apache.spark.rdd.InputFileBlockHolder

/** The result of `input_file_name()`; only packages of Spark can set it. */
object CurrentFile {
  def set(path: String, start: Long, length: Long): Unit = InputFileBlockHolder.set(path, start, length)
  def unset(): Unit = InputFileBlockHolder.unset()
}
