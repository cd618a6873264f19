package iceberglite.catalog

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.metadata.{Encryption, TableMetadata}
import iceberglite.spec.rest.MetricsReport
import iceberglite.storage.FileIO
import iceberglite.table.{
  CommitTarget,
  Committer,
  Environment,
  StageMode,
  StagedTable,
  Table,
  TableChange,
  TableCreation,
  TableIdentifier,
  TableStart,
  TableVersion
}

/**
 * A catalog, which finds tables by name and commits their metadata. To add a catalog type, implement this trait and
 * [[CatalogFamily]], and add the family to [[Catalogs.all]].
 *
 * An operation that a catalog does not support throws `Unsupported` with a message that names an alternative.
 */
trait Catalog extends Committer with AutoCloseable {

  /** The name of the catalog in the Spark session. */
  def name: String
  def io: FileIO

  /** The properties of the catalog. */
  def properties: Map[String, String]

  /**
   * Whether users can also identify a table by its path instead of its name. This is possible if the catalog stores
   * nothing about a table outside of the table's directory.
   */
  def allowsPaths: Boolean = false

  /** Returns the namespaces directly below `parent`. If `parent` is empty, returns the top-level namespaces. */
  def listNamespaces(parent: Vector[String]): Vector[Vector[String]]
  def namespaceExists(namespace: Vector[String]): Boolean

  /**
   * Returns the namespace's properties.
   *
   * @throws iceberglite.spec.IcebergError.NotFound if the namespace does not exist
   */
  def loadNamespace(namespace: Vector[String]): Map[String, String]

  /** Creates a namespace. @throws iceberglite.spec.IcebergError.AlreadyExists if the namespace exists */
  def createNamespace(namespace: Vector[String], properties: Map[String, String]): Unit
  def alterNamespace(namespace: Vector[String], set: Map[String, String], remove: Set[String]): Unit

  /**
   * Drops a namespace.
   *
   * @return false if the namespace does not exist
   * @throws iceberglite.spec.IcebergError.ValidationFailed if the namespace is not empty
   */
  def dropNamespace(namespace: Vector[String]): Boolean

  /**
   * Returns the tables of a namespace.
   *
   * @throws iceberglite.spec.IcebergError.NotFound if the namespace does not exist
   */
  def listTables(namespace: Vector[String]): Vector[TableIdentifier]
  def tableExists(id: TableIdentifier): Boolean

  /**
   * Drops a table.
   *
   * @param purge whether to delete the table's files too; a file-system catalog always deletes files. The deletion of
   *   files is rejected if the table property `gc.enabled` is false
   * @return false if the table does not exist
   */
  def drop(id: TableIdentifier, purge: Boolean): Boolean

  /**
   * Renames a table; its files are not moved.
   *
   * @throws iceberglite.spec.IcebergError.AlreadyExists if a table or view with the new name exists
   */
  def rename(from: TableIdentifier, to: TableIdentifier): Unit

  /** Registers an existing metadata file as a table. */
  def register(id: TableIdentifier, metadataFile: String): Table

  /**
   * Commits changes to several tables in one step: all of them or none.
   *
   * @throws iceberglite.spec.IcebergError.CommitConflict if a requirement of one table failed; no table was changed
   * @throws iceberglite.spec.IcebergError.CommitStateUnknown if the outcome is unknown; no file is deleted
   * @throws Unsupported if the catalog changes only one table at a time
   */
  def commitAll(changes: Vector[TableChange]): Unit = throw Unsupported(
    s"a commit to ${changes.map(c => fullName(c.id)).mkString(", ")} in one step",
    s"The catalog $name changes one table at a time. Use a REST catalog, or commit to each table"
  )

  /** Returns the location of a new table for which the user specifies no location. */
  def defaultLocation(id: TableIdentifier): String

  /** Adds the properties that this catalog sets on new tables: `table-default.*` and `table-override.*`. */
  def withCatalogProperties(creation: TableCreation): TableCreation = {
    val defaults = CatalogProperty.TableDefault.in(properties)
    creation.copy(properties = defaults ++ creation.properties ++ CatalogProperty.TableOverride.in(properties))
  }

  protected def environment: Environment

  /**
   * Returns the last part of the default location of a new table. The part has a unique suffix if the catalog property
   * `unique-table-location` is true.
   *
   * @param directory the table's name, in a form that is valid in a path
   */
  protected def uniqueDirectoryName(directory: String): String =
    if (!CatalogProperty.UniqueTableLocation.flag(name, properties)) directory
    else s"$directory-${environment.uuid().toString.replace("-", "")}"

  def fullName(id: TableIdentifier): String = s"$name.$id"

  /** Returns a table. @throws iceberglite.spec.IcebergError.NotFound if the table does not exist */
  def table(id: TableIdentifier): Table = {
    val version = load(id)
    if (!protectsMetadata) Catalog.warnIfUnprotected(name, version.metadata)
    new Table(id, fullName(id), version, io, this)
  }

  /**
   * Whether table metadata comes from a service, so that users who can write to the storage cannot change it.
   * Otherwise, metadata files are read from the storage, and a warning about encrypted tables is logged.
   */
  protected def protectsMetadata: Boolean = false

  /** Creates a table. @throws iceberglite.spec.IcebergError.AlreadyExists if a table or view with the name exists */
  def create(id: TableIdentifier, creation: TableCreation): Table = stage(id, creation, StageMode.Create).commit()

  /** Begins to create or replace a table. Readers see the change only after the staged table is committed. */
  def stage(id: TableIdentifier, creation: TableCreation, mode: StageMode): StagedTable = {
    val base = loadIfExists(id)
    StagedTable.begin(
      CommitTarget(id, fullName(id), io, this),
      new TableStart.Creation(withCatalogProperties(creation), mode, defaultLocation(id), environment.uuid()),
      base,
      environment
    )
  }

  /** Returns the newest version of a table; `None` if the table does not exist. */
  protected def loadIfExists(id: TableIdentifier): Option[TableVersion]

  /** Sends reports to the server of the catalog; absent if the catalog does not send them. */
  private[catalog] def serverReceiver: Option[MetricsReports.Receiver] = None

  /** The receivers of metrics. @throws iceberglite.spec.IcebergError.InvalidArgument if the reporter is invalid */
  private[catalog] lazy val reports: MetricsReports = {
    val reporter = MetricsReports.reporter(name, properties)
      .map(r => (_: TableIdentifier, report: MetricsReport) => r.report(report))
    new MetricsReports(name, reporter.toVector ++ serverReceiver)
  }

  override def report(id: TableIdentifier, report: => MetricsReport): Unit = reports.submit(id, report)

  /**
   * Waits for the clean-up after earlier commits and, for a limited time, for the delivery of queued metrics reports.
   * Then releases the catalog's resources.
   */
  override def close(): Unit =
    try {
      environment.cleanup.await()
      reports.close()
    } finally io.keyService.foreach(_.close())
}

private[catalog] object Catalog {

  /** Logs a warning, once for each catalog, if a table is encrypted whose metadata is not protected. */
  def warnIfUnprotected(catalog: String, metadata: TableMetadata): Unit =
    if (metadata.properties.contains(Encryption.KeyIdProperty))
      SettingWarnings.ofCatalog(catalog).once(unprotected(catalog))

  private def unprotected(name: String): String =
    s"Catalog $name reads the metadata files of encrypted tables from the storage. These files are not encrypted, " +
      "and nothing detects if they are replaced by other files. Only trusted users may write to the metadata " +
      "directories, or use a REST catalog"
}
