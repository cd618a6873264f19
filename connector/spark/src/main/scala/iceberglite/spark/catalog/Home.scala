package iceberglite.spark.catalog

import org.apache.hadoop.fs.Path

import iceberglite.catalog.{Catalog, PathTables}
import iceberglite.table.{StageMode, StagedTable, Table, TableCreation, TableIdentifier}

/** Where one table is or will be: under a name in a catalog, or at a path. */
trait Home {

  /** Tells tables apart within a catalog of Spark. */
  def key: String

  /** @throws iceberglite.spec.IcebergError.NotFound */
  def table(): Table
  def exists: Boolean
  def stage(creation: TableCreation, mode: StageMode): StagedTable

  /** @return false where there is no table */
  def drop(purge: Boolean): Boolean
}

final case class NamedHome(catalog: Catalog, id: TableIdentifier) extends Home {
  override def key: String = id.toString
  override def table(): Table = catalog.table(id)
  override def exists: Boolean = catalog.tableExists(id)
  override def drop(purge: Boolean): Boolean = catalog.drop(id, purge)

  /** Spark writes a location in its own way, `file:/wh` for `file:///wh`; that of the catalog goes without saying. */
  override def stage(creation: TableCreation, mode: StageMode): StagedTable = {
    // Only a given location is worth asking a server for the default.
    def isDefault(location: String): Boolean = new Path(location) == new Path(catalog.defaultLocation(id))
    catalog.stage(id, creation.copy(location = creation.location.filterNot(isDefault)), mode)
  }
}

final case class PathHome(paths: PathTables, path: String) extends Home {
  override def key: String = PathTables.identifier(path).name
  override def table(): Table = paths.table(path)
  override def exists: Boolean = paths.exists(path)

  /** The data source gives the path as the location too, to which Spark adds the scheme. */
  override def stage(creation: TableCreation, mode: StageMode): StagedTable = {
    val here = new Path(path).toUri.getPath
    paths.stage(path, creation.copy(location = creation.location.filterNot(new Path(_).toUri.getPath == here)), mode)
  }

  override def drop(purge: Boolean): Boolean = paths.drop(path, purge)
}
