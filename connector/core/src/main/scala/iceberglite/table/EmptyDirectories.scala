package iceberglite.table

import iceberglite.io.{DataLocations, FileIO, StoragePath}
import iceberglite.spec.TableMetadata

/**
 * Removes the directories that writers made for a table that was not created or that was dropped. In a file-system
 * catalog they would look like a namespace. Only empty directories are removed, and only those below the table's
 * directory, so that a table that another writer creates there meanwhile keeps its files. Object stores have no
 * directories, and there is nothing to do.
 */
private[iceberglite] object EmptyDirectories {

  /** @param location the table's directory, as it is known from outside of the metadata */
  def removeFor(io: FileIO, location: String, table: TableMetadata): Unit =
    Cleanup.quietly(s"remove the empty directories of $location") {
      val top = pathOf(io, location)
      val data = DataLocations.of(location, table.properties).directory
      val inside = Seq(data, TableLocations.inside(location, "metadata"))
        .filter(directory => top.exists(t => pathOf(io, directory).exists(_.isBelow(t))))
      inside.distinct.foreach(remove(io, _))
      if (io.list(location).isEmpty) io.delete(location)
    }

  private def remove(io: FileIO, directory: String): Unit = {
    val inside = io.list(directory)
    inside.filter(child => child.isDirectory && !isLink(io, directory, child.path)).foreach(child =>
      remove(io, child.path)
    )
    if (inside.forall(_.isDirectory) && io.list(directory).isEmpty) io.delete(directory)
  }

  private def isLink(io: FileIO, directory: String, child: String): Boolean =
    pathOf(io, io.realDirectory(child)).map(_.parent) != pathOf(io, io.realDirectory(directory))

  private def pathOf(io: FileIO, path: String): Option[StoragePath] = StoragePath.of(path, io.defaultFileSystem)
}
