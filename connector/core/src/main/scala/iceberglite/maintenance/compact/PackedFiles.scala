package iceberglite.maintenance.compact

import scala.collection.mutable

import iceberglite.puffin.DeletionVector
import iceberglite.scan.FileScanTask
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.file.ContentFile

/**
 * Data files whose live rows were written, in the order of the files and of the rows in each file, to new files.
 *
 * @param read the replaced data files, each as a whole file with the deletes that were applied
 * @param written the new data files
 */
final case class PackedFiles(read: Vector[FileScanTask], written: Vector[ContentFile]) {

  /**
   * Finds rows of the replaced files in the new files.
   *
   * @param rows the rows to find, by path of the replaced file and position. Rows that were already deleted, and
   *   positions after the last row of a file, are ignored
   * @param deletedBefore returns the positions of the rows of a file that were not written, because they were deleted
   * @return the new files with the positions of the rows in them
   * @throws ValidationFailed if the number of rows in the new files differs from the number of live rows in the
   *   replaced files
   */
  def find(
      rows: Map[String, DeletionVector],
      deletedBefore: FileScanTask => DeletionVector
  ): Vector[(ContentFile, DeletionVector)] = {
    val deleted = read.map(deletedBefore)
    val counts = read.zip(deleted).map { case (task, d) =>
      task.file.recordCount - countBelow(task.file.recordCount, d)
    }
    if (counts.sum != written.iterator.map(_.recordCount).sum || counts.exists(_ < 0)) throw ValidationFailed(
      s"Cannot find the rows of ${read.head.file.path} in the new files: ${counts.sum} rows were expected in them, " +
        s"but they have ${written.iterator.map(_.recordCount).sum}. The number of rows in the metadata is wrong"
    )
    val found = new PositionsInFiles(written)
    val starts = counts.scanLeft(0L)(_ + _)
    read.indices.foreach { i =>
      val file = read(i).file
      rows.get(file.path).foreach(live(_, file.recordCount, deleted(i))(position => found += starts(i) + position))
    }
    found.result()
  }

  /** Returns the number of deleted rows of a file with `end` rows. Positions after the last row have no effect. */
  private def countBelow(end: Long, deleted: DeletionVector): Long = {
    var count = 0L
    deleted.foreachIn(0L, end)(_ => count += 1)
    count
  }

  /**
   * Calls `f` for each of `rows` that was not deleted before, with its position among the rows of the file that were
   * not deleted. Positions after the last row have no effect.
   *
   * @param end the number of rows in the file
   */
  private def live(rows: DeletionVector, end: Long, deleted: DeletionVector)(f: Long => Unit): Unit = {
    var from = 0L
    var deletedCount = 0L
    rows.foreachIn(0L, end) { position =>
      deleted.foreachIn(from, position)(_ => deletedCount += 1)
      from = position
      if (!deleted.isDeleted(position)) f(position - deletedCount)
    }
  }
}

object PackedFiles {

  /**
   * Returns the files of the tasks that have read and written file groups. Tasks that read parts of the same file are
   * combined, because only all of them together have read the whole file.
   *
   * @param tasks the parts of files that each task has read, in the order of the files of each group
   * @param written the files that each task has written
   */
  def of(tasks: Vector[Vector[FileScanTask]], written: Vector[Vector[ContentFile]]): Vector[PackedFiles] = {
    val result = mutable.ArrayBuffer.empty[PackedFiles]
    tasks.zip(written).filter(_._1.nonEmpty).foreach { case (parts, files) =>
      val whole = parts.map(part => part.copy(start = 0, length = part.file.fileSizeInBytes))
      result.lastOption match {
        case Some(last) if parts.head.start > 0 && last.read.last.file.path == whole.head.file.path =>
          result(result.size - 1) = PackedFiles(last.read ++ whole.tail, last.written ++ files)
        case _ => result += PackedFiles(whole, files)
      }
    }
    result.toVector
  }
}

/**
 * Collects positions of rows in consecutive files. The rows are added in ascending order of their position in the
 * concatenation of all files.
 */
final private class PositionsInFiles(files: Vector[ContentFile]) {
  private val builders = Vector.fill(files.size)(DeletionVector.newBuilder)
  private var file = 0
  private var start = 0L

  def +=(position: Long): Unit = {
    while (position - start >= files(file).recordCount) {
      start += files(file).recordCount
      file += 1
    }
    builders(file) += position - start
  }

  def result(): Vector[(ContentFile, DeletionVector)] = files.zip(builders.map(_.result())).filterNot(_._2.isEmpty)
}
