package iceberglite.table

import iceberglite.io.{DataLocations, FileIO}
import iceberglite.spec.TableMetadata

/**
 * The directories that writers of a table have made which never came to be. In a file-system catalog they would look
 * like a namespace. Only what is empty goes, so that a table that somebody else makes there meanwhile keeps its files;
 * object stores have no directories, and there is nothing to do.
 */
private[iceberglite] object EmptyDirectories {

  def removeFor(io: FileIO, table: TableMetadata): Unit =
    Cleanup.quietly(s"remove the empty directories of ${table.location}") {
      val own = OwnFiles.of(table)
      val data = DataLocations.of(table.location, table.properties).directory
      Seq(data, TableLocations.metadata(table)).filter(own.has).distinct.foreach(remove(io, _))
      if (io.list(table.location).isEmpty) io.delete(table.location)
    }

  private def remove(io: FileIO, directory: String): Unit = {
    val inside = io.list(directory)
    inside.filter(_.isDirectory).foreach(child => remove(io, child.path))
    if (inside.forall(_.isDirectory) && io.list(directory).isEmpty) io.delete(directory)
  }
}
