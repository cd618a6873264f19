package iceberglite.maintenance.importing

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.property.TableProperty
import iceberglite.storage.StoragePath
import iceberglite.table.{Table, TableLocations}

/** Rejects imports from a directory to which the table itself writes. */
object OwnDirectories {

  /**
   * Checks that a source is not a directory of the table's own files. The files in these directories are already in the
   * table, or were removed from it. Adding them would duplicate rows or restore removed rows.
   *
   * @throws InvalidArgument if the directory is the data or metadata directory of the table, or is inside one of these
   *   two
   */
  def reject(table: Table, directory: String): Unit = {
    def parse(path: String): Option[StoragePath] = StoragePath.of(path, table.io.defaultFileSystem)
    val own = Seq(TableLocations.inside(table.location, "data"), TableLocations.metadata(table.metadata)) ++
      TableProperty.of(TableProperty.DataPath, table.properties)
    for (source <- parse(directory); path <- own; directoryOfTable <- parse(path)) {
      if (source == directoryOfTable || source.isBelow(directoryOfTable)) throw InvalidArgument(
        SourceDirectories.Source,
        directory,
        s"The directory contains files that ${table.name} itself has written. Add the files of another directory"
      )
    }
  }
}
