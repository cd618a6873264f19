package iceberglite.catalog

import iceberglite.io.FileIO
import iceberglite.table.{CommitTarget, Committer, Environment, StageMode, StagedTable, Table, TableCreation}
import iceberglite.table.{TableIdentifier, TableStart, TableVersion}

/**
 * Knows tables by name and swaps their metadata. Open by design: a catalog is one file and one line in
 * [[Catalogs.all]].
 *
 * What a catalog cannot do is an `Unsupported` that says what to do instead.
 */
trait Catalog extends Committer with AutoCloseable {

  /** As the session calls it. */
  def name: String
  def io: FileIO

  /** What the catalog was set up with. */
  def properties: Map[String, String]

  /** Whether a path is a valid table name: the directory of a table is all that this catalog knows about it. */
  def allowsPaths: Boolean = false

  /** @return the namespaces directly below; of none, the top ones */
  def listNamespaces(parent: Vector[String]): Vector[Vector[String]]
  def namespaceExists(namespace: Vector[String]): Boolean

  /** The namespace's properties. @throws iceberglite.spec.IcebergError.NotFound */
  def loadNamespace(namespace: Vector[String]): Map[String, String]

  /** @throws iceberglite.spec.IcebergError.AlreadyExists */
  def createNamespace(namespace: Vector[String], properties: Map[String, String]): Unit
  def alterNamespace(namespace: Vector[String], set: Map[String, String], remove: Set[String]): Unit

  /**
   * @return false where there is no such namespace
   * @throws iceberglite.spec.IcebergError.ValidationFailed it is not empty
   */
  def dropNamespace(namespace: Vector[String]): Boolean

  /** @throws iceberglite.spec.IcebergError.NotFound there is no such namespace */
  def listTables(namespace: Vector[String]): Vector[TableIdentifier]
  def tableExists(id: TableIdentifier): Boolean

  /**
   * Drops a table.
   *
   * @param purge whether its files go too; refused where the table's `gc.enabled` is false
   * @return false where there is no such table
   */
  def drop(id: TableIdentifier, purge: Boolean): Boolean
  def rename(from: TableIdentifier, to: TableIdentifier): Unit

  /** Takes a table in that stands in a metadata file. */
  def register(id: TableIdentifier, metadataFile: String): Table

  /** Where a new table goes that does not say where. */
  def defaultLocation(id: TableIdentifier): String

  /** With the properties that this catalog gives new tables. */
  protected def completed(creation: TableCreation): TableCreation = {
    val defaults = CatalogProperty.TableDefault.in(properties)
    creation.copy(properties = defaults ++ creation.properties ++ CatalogProperty.TableOverride.in(properties))
  }

  protected def environment: Environment

  /**
   * The last part of the default location of a new table.
   *
   * @param directory the table's name, as far as it can be part of a path
   */
  protected def uniqueIfAsked(directory: String): String =
    if (!CatalogProperty.UniqueTableLocation.flag(name, properties)) directory
    else s"$directory-${environment.uuid().toString.replace("-", "")}"

  def fullName(id: TableIdentifier): String = s"$name.$id"

  /** @throws iceberglite.spec.IcebergError.NotFound */
  def table(id: TableIdentifier): Table = new Table(id, fullName(id), load(id), io, this)

  /** @throws iceberglite.spec.IcebergError.AlreadyExists */
  def create(id: TableIdentifier, creation: TableCreation): Table = stage(id, creation, StageMode.Create).commit()

  /** Begins to create or replace a table; nothing is to be seen before the staged table is committed. */
  def stage(id: TableIdentifier, creation: TableCreation, mode: StageMode): StagedTable = {
    val base = loadIfExists(id)
    StagedTable.begin(
      CommitTarget(id, fullName(id), io, this),
      new TableStart.Creation(completed(creation), mode, defaultLocation(id), environment.uuid()),
      base,
      environment
    )
  }

  protected def loadIfExists(id: TableIdentifier): Option[TableVersion]

  override def close(): Unit = ()
}
