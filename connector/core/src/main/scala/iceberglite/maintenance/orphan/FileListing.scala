package iceberglite.maintenance.orphan

import scala.annotation.tailrec

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.metadata.TableMetadata
import iceberglite.storage.{FileIO, FileInfo}
import iceberglite.tree.MetadataPool

/** A file that may be an orphan. @param modifiedMs time of the last modification, in milliseconds since the epoch */
final case class ListedFile(path: String, modifiedMs: Long)

/** Lists the files among which orphans are searched for. */
trait FileListing {

  /**
   * Passes each file to `consume`, possibly from several threads. It can be called several times, and may then list
   * other files.
   */
  def foreach(consume: ListedFile => Unit): Unit
}

/**
 * Lists a directory at all depths, several directories at a time. Files and directories whose names begin with `_` or
 * `.` are omitted, except partition directories.
 *
 * @param partitionFields names of partition fields; directories of their values are listed even if a name is hidden
 */
final class DirectoryListing(io: FileIO, directory: String, partitionFields: Set[String]) extends FileListing {
  import DirectoryListing._

  override def foreach(consume: ListedFile => Unit): Unit = listLevel(Vector(directory), 0, consume)

  @tailrec
  private def listLevel(directories: Vector[String], depth: Int, consume: ListedFile => Unit): Unit =
    if (directories.nonEmpty) {
      if (depth > MaxDepth) throw Unsupported(
        s"listing $directory, which has more than $MaxDepth levels of directories",
        s"Remove the symbolic link that makes ${directories.head} part of itself"
      )
      val below = MetadataPool.map(directories) { path =>
        val (nested, files) = io.list(path).filterNot(isHidden).partition(_.isDirectory)
        files.foreach(file => consume(ListedFile(file.path, file.modifiedMs)))
        nested.map(_.path)
      }
      listLevel(below.flatten, depth + 1, consume)
    }

  private def isHidden(file: FileInfo): Boolean = {
    val name = file.path.stripSuffix("/").split('/').last
    (name.startsWith("_") || name.startsWith(".")) &&
    !(file.isDirectory && partitionFields.exists(field => name.startsWith(s"$field=")))
  }
}

object DirectoryListing {

  /** The maximum depth of a directory. A deeper one is likely to contain a symbolic link to itself. */
  private val MaxDepth = 200

  /** Returns the listing of a directory of a table. */
  def of(io: FileIO, directory: String, metadata: TableMetadata): DirectoryListing =
    new DirectoryListing(io, directory, metadata.specs.flatMap(_.fields.map(_.name)).toSet)
}
