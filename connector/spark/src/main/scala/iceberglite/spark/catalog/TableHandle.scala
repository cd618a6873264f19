package iceberglite.spark.catalog

import org.apache.hadoop.fs.Path

import iceberglite.catalog.{Catalog, PathTables}
import iceberglite.table.{StageMode, StagedTable, Table, TableCreation, TableIdentifier}

/** Refers to a table by its name in a catalog, or by its path. The table need not exist. */
trait TableHandle {

  /** The key that identifies the table within a Spark catalog. */
  def key: String

  /** Loads the table. @throws iceberglite.spec.IcebergError.NotFound if the table does not exist */
  def table(): Table
  def exists: Boolean
  def stage(creation: TableCreation, mode: StageMode): StagedTable

  /** Returns the properties that a new table would have, including those that the catalog sets. */
  def propertiesOf(creation: TableCreation): Map[String, String]

  /** Creates an empty table. @throws iceberglite.spec.IcebergError.AlreadyExists if the table exists */
  def create(creation: TableCreation): Table

  /** Drops the table. @return false if the table does not exist */
  def drop(purge: Boolean): Boolean
}

final case class NamedTable(catalog: Catalog, id: TableIdentifier) extends TableHandle {
  override def key: String = id.toString
  override def table(): Table = catalog.table(id)
  override def exists: Boolean = catalog.tableExists(id)
  override def drop(purge: Boolean): Boolean = catalog.drop(id, purge)

  override def stage(creation: TableCreation, mode: StageMode): StagedTable =
    catalog.stage(id, withoutDefaultLocation(creation), mode)

  override def propertiesOf(creation: TableCreation): Map[String, String] =
    catalog.withCatalogProperties(creation).properties

  override def create(creation: TableCreation): Table = catalog.create(id, withoutDefaultLocation(creation))

  /**
   * Omits a location that equals the catalog's default location. The two locations are compared as Hadoop paths,
   * because Spark changes a location such as `file:///wh` to `file:/wh`.
   */
  private def withoutDefaultLocation(creation: TableCreation): TableCreation = {
    // The default location is needed only if a location is given. Looking it up may need a request to a server.
    def isDefault(location: String): Boolean = new Path(location) == new Path(catalog.defaultLocation(id))
    creation.copy(location = creation.location.filterNot(isDefault))
  }
}

final case class PathTable(paths: PathTables, path: String) extends TableHandle {
  override def key: String = PathTables.identifier(path).name
  override def table(): Table = paths.table(path)
  override def exists: Boolean = paths.exists(path)

  /**
   * Stages the table. A location that equals the path is omitted. The data source passes the path as the location, and
   * Spark adds a scheme to this location.
   */
  override def stage(creation: TableCreation, mode: StageMode): StagedTable = {
    val ownPath = new Path(path).toUri.getPath
    paths.stage(path, creation.copy(location = creation.location.filterNot(new Path(_).toUri.getPath == ownPath)), mode)
  }

  override def propertiesOf(creation: TableCreation): Map[String, String] = creation.properties
  override def create(creation: TableCreation): Table = stage(creation, StageMode.Create).commit()
  override def drop(purge: Boolean): Boolean = paths.drop(path, purge)
}
