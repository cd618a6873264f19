package iceberglite.table

import iceberglite.spec.metadata.TableMetadata
import iceberglite.storage.{FileIO, StoragePath, StorageSettings}
import iceberglite.tree.MetadataPool

/**
 * Removes the empty directories of a table that was dropped or whose creation failed, because a file-system catalog
 * would list them as a namespace. Files are never removed, because another writer may create a table in the same
 * directory concurrently.
 */
private[iceberglite] object EmptyDirectories {

  /** The name of a file that need not exist. A directory is removed only if the table may delete this file in it. */
  private val AnyFile = "file"

  /**
   * Removes the empty directories of a table.
   *
   * @param location the table's directory according to its name or the catalog, and not to its metadata
   */
  def removeFor(io: FileIO, location: String, table: TableMetadata): Unit =
    Cleanup.quietly(s"remove the empty directories of $location") {
      val top = pathOf(io, location)
      val data = DataLocations.of(location, table.properties).directory
      val inside = Seq(data, TableLocations.inside(location, "metadata"))
        .filter(directory => top.exists(t => pathOf(io, directory).exists(_.isBelow(t))))
      inside.distinct.foreach(removeEmpty(io, _))
      if (io.list(location).isEmpty) io.delete(location)
    }

  /**
   * Removes all empty directories below a directory. After that, removes the directory itself if it is empty.
   *
   * @return the path of a remaining file or link; absent if nothing remains, or if the removal failed, which is logged
   */
  def removeAll(io: FileIO, directory: String): Option[String] = {
    var remaining: Option[String] = None
    Cleanup.quietly(s"remove the empty directories of $directory") { remaining = removeEmpty(io, directory) }
    remaining
  }

  /**
   * Removes the directories that the deletion of files has emptied: the directories of these files, and the directories
   * above them, up to the table's directory. Other directories are not listed, and are kept even if they are empty.
   * Directories below symbolic links are kept, too. Does nothing on S3, which has no directories.
   *
   * @param top the table's directory
   * @param owned a directory is removed only if the table may delete files in it
   * @param parents the directories of the deleted files
   */
  def removeEmptied(io: FileIO, top: StoragePath, owned: OwnedPaths, parents: Vector[StoragePath]): Unit =
    if (!StorageSettings.S3(top.store)) {
      val levels = parents.distinct.flatMap(upTo(_, top)).distinct.groupBy(_.names.size).toVector.sortBy(-_._1)
      levels.foldLeft(Set.empty[StoragePath]) { case (occupied, (_, level)) =>
        val kept = MetadataPool.map(level)(d => (d, !occupied(d) && isRemoved(io, top, owned, d))).filterNot(_._2)
        occupied ++ kept.map(_._1.parent)
      }
      ()
    }

  /** Returns a directory and the directories above it, up to `top`; empty if it is not in `top`. */
  private def upTo(directory: StoragePath, top: StoragePath): Vector[StoragePath] =
    if (directory != top && !directory.isBelow(top)) Vector.empty
    else (top.names.size to directory.names.size).toVector.map(n => directory.copy(names = directory.names.take(n)))

  /** Removes a directory if it is empty. @return whether it was removed */
  private def isRemoved(io: FileIO, top: StoragePath, owned: OwnedPaths, directory: StoragePath): Boolean = {
    var removed = false
    Cleanup.quietly(s"remove the empty directory $directory") {
      val mayRemove = owned.reasonToKeep((directory / AnyFile).text).isEmpty && !isBelowLink(io, top, directory)
      if (mayRemove && io.list(directory.text).isEmpty) {
        io.deleteEmptyDirectory(directory.text)
        removed = true
      }
    }
    removed
  }

  /** Returns whether the directory, the table's directory `top` or a directory between them is a symbolic link. */
  private def isBelowLink(io: FileIO, top: StoragePath, directory: StoragePath): Boolean = {
    val above = pathOf(io, io.realDirectory(top.parent.text))
    val expected = above.map(p => p.copy(names = p.names ++ directory.names.drop(top.names.size - 1)))
    pathOf(io, io.realDirectory(directory.text)) != expected
  }

  private def removeEmpty(io: FileIO, directory: String): Option[String] = {
    val (directories, others) = io.list(directory).partition(c => c.isDirectory && !isLink(io, directory, c.path))
    val inside = MetadataPool.map(directories)(child => removeEmpty(io, child.path))
    val remaining = others.headOption.map(_.path).orElse(inside.flatten.headOption)
    if (remaining.isEmpty) io.delete(directory)
    remaining
  }

  private def isLink(io: FileIO, directory: String, child: String): Boolean =
    pathOf(io, io.realDirectory(child)).map(_.parent) != pathOf(io, io.realDirectory(directory))

  private def pathOf(io: FileIO, path: String): Option[StoragePath] = StoragePath.of(path, io.defaultFileSystem)
}
