package iceberglite.spark.write

import scala.collection.mutable

import iceberglite.storage.{FileIO, FileInfo}
import iceberglite.table.{Cleanup, DataLocations}

/**
 * Removes the files of a failed write, including the files of tasks whose result Spark did not report: when a job
 * fails, Spark kills the running tasks, and ignores the result of a task that ends at the same time. The files of such
 * a task are found by the id of the write in their names, unless the files of the table are spread over directories by
 * a hash.
 */
private[iceberglite] object UncommittedFiles {

  /**
   * The maximum number of directories to search, because a table may have very many partitions. The files in other
   * directories remain until orphan files are removed.
   */
  private val MaxDirectories = 1000

  /**
   * Removes the files of a write that was not committed.
   *
   * @param locations the locations of the table's data files
   * @param known the paths of the files that Spark has reported
   */
  def remove(io: FileIO, locations: DataLocations, operationId: String, known: Seq[String]): Unit = {
    Cleanup.delete(io, known)
    if (locations.spread.isEmpty) remove(io, locations.directory, operationId)
  }

  private def remove(io: FileIO, directory: String, operationId: String): Unit =
    Cleanup.quietly(s"look for files of a failed write in $directory") {
      val unsearched = mutable.Queue(directory)
      var searched = 0
      while (unsearched.nonEmpty && searched < MaxDirectories) {
        val (directories, files) = io.list(unsearched.dequeue()).partition(_.isDirectory)
        unsearched ++= directories.map(_.path)
        searched += 1
        Cleanup.delete(io, files.filter(hasOperationId(operationId)).map(_.path))
      }
    }

  private def hasOperationId(operationId: String)(file: FileInfo): Boolean =
    file.path.substring(file.path.lastIndexOf('/') + 1).contains(operationId)
}
