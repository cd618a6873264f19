package iceberglite.table

import iceberglite.spec.metadata.TableMetadata
import iceberglite.storage.{FileIO, StoragePath}
import iceberglite.tree.MetadataPool

/**
 * Removes the empty directories of a table that was dropped or whose creation failed, because a file-system catalog
 * would list them as a namespace. Files are never removed, because another writer may create a table in the same
 * directory concurrently. In object stores, nothing is removed, because they have no directories.
 */
private[iceberglite] object EmptyDirectories {

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
