package iceberglite.spark.stream.source

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.spark.sql.execution.streaming.CheckpointFileManager

import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.storage.ReadBounds

/** A small file in the checkpoint of a query, which is written completely or not at all. */
final private[source] class CheckpointFile(file: Path, conf: Configuration) {
  private lazy val files = CheckpointFileManager.create(file.getParent, conf)

  /** Returns the contents; absent if there is no file. @throws StorageFailed if the file cannot be read */
  def read(): Option[String] = access("read") {
    if (!files.exists(file)) None
    else {
      val in = files.open(file)
      try Some(new String(CheckpointFile.Bounds.read(file.toString, in), UTF_8))
      finally in.close()
    }
  }

  /**
   * Creates the file. A file is never replaced, because object stores cannot replace a file by a rename atomically.
   *
   * @return false if the file exists
   * @throws StorageFailed if the file cannot be written
   */
  def create(contents: String): Boolean = access("create") {
    files.mkdirs(file.getParent)
    !files.exists(file) && {
      val out = files.createAtomic(file, overwriteIfPossible = false)
      try {
        out.write(contents.getBytes(UTF_8))
        out.close()
        true
      } catch {
        case _: FileAlreadyExistsException => false
        case e: IOException =>
          out.cancel()
          throw e
      }
    }
  }

  private def access[A](operation: String)(body: => A): A = CheckpointFile.access(operation, file)(body)

  override def toString: String = file.toString
}

private[source] object CheckpointFile {

  /** Limits for a file in a checkpoint. A file without an end, or a huge file, does not exhaust the memory. */
  private val Bounds = ReadBounds("a file in a checkpoint", 16L << 20, _ => true)

  /** Calls the file system. @throws StorageFailed if the call fails, or if the file system rejects the path */
  private def access[A](operation: String, path: Path)(body: => A): A =
    try body
    catch {
      case e @ (_: IOException | _: IllegalArgumentException) =>
        throw StorageFailed.at(operation, path.toString, e.toString, Some(e))
    }

  /**
   * Returns the names of the files in a directory; empty if there is no directory.
   *
   * @throws StorageFailed if the directory cannot be listed
   */
  def namesIn(directory: Path, conf: Configuration): Vector[String] = access("list", directory) {
    val files = CheckpointFileManager.create(directory, conf)
    if (files.exists(directory)) files.list(directory).iterator.map(_.getPath.getName).toVector else Vector.empty
  }
}
