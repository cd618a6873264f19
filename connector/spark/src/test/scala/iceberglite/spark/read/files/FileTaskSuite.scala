package iceberglite.spark.read.files

import org.apache.spark.memory.SparkOutOfMemoryError
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.read.parquet.ParquetFile
import iceberglite.spec.IcebergError.UnreadableFile

/** Tests the errors of readers that a task reports. */
class FileTaskSuite extends AnyFunSuite {
  private val task = ParquetFile.wholeFile("data/f.parquet")

  private def readFailing(error: Throwable): Nothing = FileTask.withErrorContext(task, "db.t")(throw error)

  test("if a file needs too much memory, the error names the file, and no fatal error is its cause") {
    val memory = new OutOfMemoryError("Java heap space")
    // Spark's vectors wrap the error.
    Seq(memory, new RuntimeException("Cannot reserve", memory), new StackOverflowError).foreach { thrown =>
      val error = intercept[UnreadableFile](readFailing(thrown))
      assert(error.file == task.path && error.role.contains("db.t") && error.cause.isEmpty, thrown)
    }
  }

  test("exhausted memory that no file can cause is not converted") {
    val threads = new OutOfMemoryError("unable to create native thread")
    assert(intercept[OutOfMemoryError](readFailing(threads)) eq threads)
    val ofSpark = new SparkOutOfMemoryError("no memory for the task")
    assert(intercept[SparkOutOfMemoryError](readFailing(ofSpark)) eq ofSpark)
  }
}
