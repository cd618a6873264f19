package iceberglite.catalog

import scala.util.Try

import iceberglite.io.{FileIO, MetadataFiles, StoragePath}
import iceberglite.maintenance.PurgeTable
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.TableProperty
import iceberglite.table._

/**
 * Drops a file-system table. The existence of its directory means that the table exists, so the directory is deleted;
 * PURGE also deletes the files that the table owns elsewhere. Files that the table's metadata names are used only for
 * PURGE and for a directory that is not deleted completely: see [[OwnedPaths]].
 *
 * @param ownership the ownership of the table, whose directory is known by its name or path
 * @param isWhole whether the directory belongs to the table only, and not to a user who may keep other files there
 */
final private[catalog] class DropDirectory(io: FileIO, table: String, ownership: TableOwnership, isWhole: Boolean) {
  private val location = ownership.directory.getOrElse(table)
  private val metadata = TableLocations.inside(location, "metadata")
  private val versions = new VersionedTable(io, location, table)

  /**
   * Drops the table. A broken table can be dropped, but not purged.
   *
   * @return false if the table does not exist
   * @throws ValidationFailed the directory may contain files of other tables
   */
  def apply(purge: Boolean): Boolean = {
    val there = versions.isThere
    if (there) {
      refuseLink()
      refuseOtherCatalogs()
      val version = if (purge) versions.newest() else Try(versions.newest()).toOption.flatten
      version.foreach(refuseWithoutGc)
      val deletesAll = isWhole && !isShared
      if (purge || !deletesAll) version.foreach(PurgeTable(io, table, _, ownership))
      // Delete the metadata first: without it the directory is not a table, so that no reader finds a table without
      // data.
      if (deletesAll) {
        io.deleteDirectory(metadata)
        io.deleteDirectory(location)
      } else {
        io.list(metadata).filterNot(_.isDirectory).foreach(file => io.delete(file.path))
        version.foreach(v => EmptyDirectories.removeFor(io, location, v.metadata))
      }
    }
    there
  }

  /**
   * Rejects links: a link gives another table a second name, as does a link above the directory that leads to a
   * sibling.
   */
  private def refuseLink(): Unit = StoragePath.of(location, io.defaultFileSystem).foreach { directory =>
    val around = directory.names.inits.filter(_.nonEmpty).map(names => directory.copy(names = names)).toVector
    around.find(d => isLink(d.parent, d) && (d == directory || isNeighbour(d))).foreach { link =>
      throw ValidationFailed(
        s"Cannot drop table $table: $link is a symbolic link to ${io.realDirectory(link.text)}. Drop the table by " +
          "its real directory, or remove the link"
      )
    }
  }

  private def isNeighbour(link: StoragePath): Boolean =
    real(link).exists(target => real(link.parent).exists(target.isBelow))

  /** Whether another table is in the directory, or the directory is in that of another table. */
  private def isShared: Boolean = StoragePath.of(location, io.defaultFileSystem).forall { directory =>
    directory.names.inits.drop(1).map(names => directory.copy(names = names)).exists(isTableIfSeen) ||
    inside(directory).exists(hasTables)
  }

  private def hasTables(directory: StoragePath): Boolean = isTable(directory) || inside(directory).exists(hasTables)

  /** Returns the subdirectories, except those of partitions and hashes, of which there may be many, and links. */
  private def inside(directory: StoragePath): Vector[StoragePath] = io.list(directory.text).filter(_.isDirectory)
    .map(child => directory / child.path.stripSuffix("/").split('/').last)
    .filterNot(child => OwnedPaths.isLayout(child.names.last) || isLink(directory, child))

  private def isLink(directory: StoragePath, child: StoragePath): Boolean =
    real(child) != real(directory).map(_ / child.names.last)

  private def real(directory: StoragePath): Option[StoragePath] =
    StoragePath.of(io.realDirectory(directory.text), io.defaultFileSystem)

  /**
   * Whether a directory is a table; false if it cannot be accessed, as is possible for directories far above the
   * table's.
   */
  private def isTableIfSeen(directory: StoragePath): Boolean = {
    var found = false
    Cleanup.quietly(s"look for a table in $directory") { found = isTable(directory) }
    found
  }

  private def isTable(directory: StoragePath): Boolean = new VersionedTable(io, directory.text, table).isThere

  /** Rejects a directory whose newest metadata file another catalog knows: drop the table in that catalog. */
  private def refuseOtherCatalogs(): Unit =
    io.list(metadata).map(_.path).find { path =>
      MetadataFiles.version(path).isDefined && !MetadataFiles.isVersionName(path)
    }.foreach { path =>
      throw ValidationFailed(
        s"Cannot drop table $table: its directory $location has metadata of a catalog that stores a pointer to the " +
          s"newest metadata file ($path). Drop the table in that catalog, and delete what is left there, first"
      )
    }

  private def refuseWithoutGc(version: TableVersion): Unit =
    if (!TableProperty.of(TableProperty.Gc, version.metadata.properties)) throw ValidationFailed(
      s"Cannot drop table $table: its property ${TableProperty.Gc.key} is false because other tables may use its " +
        "files, " +
        s"and in a file-system catalog dropping it deletes its directory $location. Set the property to true first"
    )
}
