package iceberglite.maintenance.orphan

import scala.annotation.tailrec

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.metadata.TableMetadata
import iceberglite.storage.{FileIO, FileInfo}
import iceberglite.tree.MetadataPool

/** A file that may be an orphan. @param modifiedMs time of the last modification, in milliseconds since the epoch */
final case class ListedFile(path: String, modifiedMs: Long)

/** Lists the files that may be orphan files. */
trait FileListing {

  /**
   * Passes each file to `consume`, possibly from several threads. This method can be called several times, and each
   * call may find different files.
   */
  def foreach(consume: ListedFile => Unit): Unit
}

/**
 * Lists a directory at all depths, several directories at a time. Files and directories whose names begin with `_` or
 * `.` are omitted, except partition directories. Serializable, so that Spark tasks can list directories.
 *
 * @param partitionFields names of partition fields; the partition directories of these fields are listed even if their
 *   names begin with `_` or `.`
 */
final class DirectoryListing(io: FileIO, val directory: String, partitionFields: Set[String])
    extends FileListing
    with Serializable {
  import DirectoryListing._

  override def foreach(consume: ListedFile => Unit): Unit = listLevel(Vector(directory), 0, consume)

  @tailrec
  private def listLevel(directories: Vector[String], depth: Int, consume: ListedFile => Unit): Unit =
    if (directories.nonEmpty) {
      requireDepth(directories.head, depth)
      val below = MetadataPool.map(directories) { path =>
        val (nested, files) = entries(path)
        files.foreach(consume)
        nested
      }
      listLevel(below.flatten, depth + 1, consume)
    }

  /** Returns the directories and the files in one directory. */
  def entries(path: String): (Vector[String], Vector[ListedFile]) = {
    val (nested, files) = io.list(path).filterNot(isHidden(_, partitionFields)).partition(_.isDirectory)
    (nested.map(_.path), files.map(file => ListedFile(file.path, file.modifiedMs)))
  }

  /**
   * Returns the files in a directory at all depths. Directories are listed one at a time.
   *
   * @param path [[directory]] or a directory below it
   * @param depth the number of directories from [[directory]] to `path`
   */
  def filesBelow(path: String, depth: Int): Iterator[ListedFile] = {
    requireDepth(path, depth)
    val (nested, files) = entries(path)
    files.iterator ++ nested.iterator.flatMap(filesBelow(_, depth + 1))
  }

  private def requireDepth(path: String, depth: Int): Unit = if (depth > MaxDepth) throw Unsupported(
    s"listing $directory, which has more than $MaxDepth levels of directories",
    s"Remove the symbolic link that makes $path part of itself"
  )
}

object DirectoryListing {

  /**
   * The maximum depth of a directory. The path of a deeper directory is likely to contain a symbolic link to a parent
   * directory.
   */
  private val MaxDepth = 200

  /** Returns the listing of a directory of a table. */
  def of(io: FileIO, directory: String, metadata: TableMetadata): DirectoryListing =
    new DirectoryListing(io, directory, partitionFields(metadata))

  private[orphan] def partitionFields(metadata: TableMetadata): Set[String] =
    metadata.specs.flatMap(_.fields.map(_.name)).toSet

  private def isHidden(file: FileInfo, partitionFields: Set[String]): Boolean =
    isHidden(file.path.stripSuffix("/").split('/').last, file.isDirectory, partitionFields)

  /** Returns whether listings omit a file or directory because of its name. */
  private[orphan] def isHidden(name: String, isDirectory: Boolean, partitionFields: Set[String]): Boolean =
    (name.startsWith("_") || name.startsWith(".")) &&
      !(isDirectory && partitionFields.exists(field => name.startsWith(s"$field=")))
}
