package iceberglite.catalog

import scala.util.Try

import iceberglite.io.FileIO
import iceberglite.maintenance.PurgeTable
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.TableProperty
import iceberglite.table.{EmptyDirectories, TableLocations, TableVersion}

/**
 * Drops a file-system table: its directory goes in any case, as that alone tells that there is a table. PURGE also
 * deletes files that the table keeps elsewhere.
 *
 * @param shared whether others may have put files into the directory, which are spared: a table made at a path
 */
final private[catalog] class DropDirectory(io: FileIO, location: String, table: String, shared: Boolean) {
  private val versions = new VersionedTable(io, location, table)

  /**
   * A broken table can be dropped all the same, but not purged.
   *
   * @return false where there is no table
   * @throws ValidationFailed the directory may hold files of other tables
   */
  def apply(purge: Boolean): Boolean = {
    val there = versions.isThere
    if (there) {
      val version = if (purge) versions.newest() else Try(versions.newest()).toOption.flatten
      version.foreach(refuseWithoutGc)
      if (purge || shared) version.foreach(PurgeTable(io, table, _))
      // First what makes it a table: nobody shall find one without its data.
      io.deleteDirectory(TableLocations.inside(location, "metadata"))
      if (shared) version.foreach(v => EmptyDirectories.removeFor(io, v.metadata)) else io.deleteDirectory(location)
    }
    there
  }

  private def refuseWithoutGc(version: TableVersion): Unit =
    if (!TableProperty.of(TableProperty.Gc, version.metadata.properties)) throw ValidationFailed(
      s"Cannot drop table $table: its property ${TableProperty.Gc.key} is false, as other tables may use its files, " +
        s"and in a file-system catalog its directory $location goes with it. Set the property to true first"
    )
}
