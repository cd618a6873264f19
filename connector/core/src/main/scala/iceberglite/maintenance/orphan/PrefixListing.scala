package iceberglite.maintenance.orphan

import iceberglite.spec.metadata.TableMetadata
import iceberglite.storage.{FileIO, FileInfo}

/**
 * Lists the same files as [[DirectoryListing]], but lists all paths with a prefix instead of each directory. In an
 * object store, this takes fewer requests if there are many directories with few files each. This object sends the
 * requests one after the other. Serializable, so that Spark tasks can list parts of the directory.
 *
 * @param partitionFields names of partition fields; the partition directories of these fields are listed even if their
 *   names begin with `_` or `.`
 */
final class PrefixListing(io: FileIO, val directory: String, partitionFields: Set[String])
    extends FileListing
    with Serializable {
  private val prefix = FileUri.of(directory).path.stripSuffix("/") + "/"

  override def foreach(consume: ListedFile => Unit): Unit = filesBelow(directory).foreach(consume)

  /** Returns the files whose paths begin with a directory. @param path [[directory]] or a directory below it */
  def filesBelow(path: String): Iterator[ListedFile] =
    io.listBelow(path).filterNot(isHidden).map(file => ListedFile(file.path, file.modifiedMs))

  /** Returns the directories and the files in one directory. @param path [[directory]] or a directory below it */
  def entries(path: String): (Vector[String], Vector[ListedFile]) =
    new DirectoryListing(io, directory, partitionFields).entries(path)

  private def isHidden(file: FileInfo): Boolean = {
    val names = FileUri.of(file.path).path.stripPrefix(prefix).split('/').toVector
    names.init.exists(DirectoryListing.isHidden(_, isDirectory = true, partitionFields)) ||
    names.lastOption.exists(DirectoryListing.isHidden(_, isDirectory = false, partitionFields))
  }
}

object PrefixListing {

  /** Returns the listing of a directory of a table. */
  def of(io: FileIO, directory: String, metadata: TableMetadata): PrefixListing =
    new PrefixListing(io, directory, DirectoryListing.partitionFields(metadata))
}
