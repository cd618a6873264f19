package iceberglite.catalog.rest

import java.util.UUID

import iceberglite.catalog.{Catalog, CatalogFamily, CatalogProperty, MetricsReports, ViewCatalog}
import iceberglite.encryption.TableKeys
import iceberglite.maintenance.PurgeTable
import iceberglite.spec.metadata.TableMetadata
import iceberglite.storage.FileIO
import iceberglite.table._

/**
 * A catalog of tables and views on a server with the Iceberg REST protocol. The catalog sends updates and their
 * requirements to the server, and the server writes the metadata files.
 */
final class RestCatalog private (
    val name: String,
    val properties: Map[String, String],
    val io: FileIO,
    protected val environment: Environment,
    initialClient: RestClient,
    transport: RestSettings => Transport
) extends Catalog
    with ViewCatalog {

  /** The connection to the server. It is opened on first use, because a session may never use some of its catalogs. */
  private lazy val server: RestServer = RestServer.connect(initialClient, transport, environment)

  private val namespaces = new RestNamespaces(name, () => server)
  private val views = new RestViews(name, () => server)
  private val tables =
    new RestTables(name, io, () => server, cache, new TableRequirements(properties), new TablePlanning(environment))

  private def cache: CachedRestTables = new CachedRestTables(
    initialClient.settings.number(RestProperty.CacheEntries, 0).toInt,
    initialClient.settings.number(RestProperty.CacheExpirationMs, 0),
    environment.nowMs
  )

  override def listNamespaces(parent: Vector[String]): Vector[Vector[String]] = namespaces.list(parent)
  override def namespaceExists(namespace: Vector[String]): Boolean = namespaces.exists(namespace)
  override def loadNamespace(namespace: Vector[String]): Map[String, String] = namespaces.load(namespace)

  override def createNamespace(namespace: Vector[String], properties: Map[String, String]): Unit =
    namespaces.create(namespace, properties)

  override def alterNamespace(namespace: Vector[String], set: Map[String, String], remove: Set[String]): Unit =
    namespaces.alter(namespace, set, remove)

  override def dropNamespace(namespace: Vector[String]): Boolean = namespaces.drop(namespace)

  override def listTables(namespace: Vector[String]): Vector[TableIdentifier] = namespaces.tables(namespace)
  override def tableExists(id: TableIdentifier): Boolean = tables.exists(id)

  /**
   * Returns a table. With `snapshot-loading-mode=REFS`, its metadata contains only the snapshots to which branches and
   * tags refer. [[load]] always returns a version with all snapshots.
   */
  override def table(id: TableIdentifier): Table =
    tableAt(id, tables.load(id, initialClient.settings.onlyRefs).getOrElse(throw tables.notFound(id)))

  override protected def protectsMetadata: Boolean = true

  override def load(id: TableIdentifier): TableVersion = loadIfExists(id).getOrElse(throw tables.notFound(id))

  /**
   * Returns the server's current version. If `known` has only the snapshots to which branches and tags refer, so does
   * the result.
   */
  override def reload(id: TableIdentifier, known: TableVersion): TableVersion =
    tables.load(id, refsOnly = !known.hasAllSnapshots).getOrElse(throw tables.notFound(id))

  override protected def loadIfExists(id: TableIdentifier): Option[TableVersion] = tables.load(id, refsOnly = false)

  override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
    ServerExpressions.check(fullName(id), base, change, environment.nowMs())
    tables.commit(id, base, change)
  }

  override def commitAll(changes: Vector[TableChange]): Unit = if (changes.nonEmpty) tables.commitAll(changes)

  /**
   * Creates an empty table without staging it, because a server need not support staged creation. A clone is staged,
   * because the request cannot express all of its metadata.
   */
  override def create(id: TableIdentifier, creation: TableCreation): Table =
    if (creation.cloneOf.isDefined) super.create(id, creation)
    else {
      val requested = withCatalogProperties(creation)
      val metadata = draft(id, requested, StageMode.Create, environment.uuid())
      TableKeys.of(fullName(id), metadata, io.keyService).foreach(_.requireMasterKey())
      tableAt(id, tables.create(id, metadata, requested.location))
    }

  /** Returns the metadata of a new table, before the server adds its settings. */
  private def draft(id: TableIdentifier, requested: TableCreation, mode: StageMode, uuid: UUID): TableMetadata = {
    val metadata = new TableStart.Creation(requested, mode, RestCatalog.UndeterminedLocation, uuid)
      .initialState(fullName(id), None, environment.nowMs()).metadata
    ServerExpressions.check(fullName(id), metadata)
    metadata
  }

  /**
   * Stages a table. For a new table, the server determines the location, adds properties, and vends credentials for the
   * files.
   */
  override def stage(id: TableIdentifier, creation: TableCreation, mode: StageMode): StagedTable = {
    val base = loadIfExists(id)
    val requested = withCatalogProperties(creation)
    def target(access: Option[FileIO]) = CommitTarget(id, fullName(id), access.getOrElse(io), this)
    if (base.isDefined || mode == StageMode.Replace) {
      val start = new TableStart.Creation(requested, mode, "", environment.uuid())
      StagedTable.begin(target(base.flatMap(_.io)), start, base, environment)
    } else {
      val uuid = environment.uuid()
      val staged = tables.stage(id, draft(id, requested, mode, uuid), requested.location)
      val complete =
        requested.copy(location = Some(staged.location), properties = staged.properties ++ requested.properties)
      val start = new TableStart.Creation(complete, mode, staged.location, uuid)
      StagedTable.begin(target(staged.io), start, None, environment)
    }
  }

  /**
   * Drops a table. By default, a purge deletes the table's files in this process. If the property `rest-catalog-purge`
   * is true, the server deletes the files.
   */
  override def drop(id: TableIdentifier, purge: Boolean): Boolean = {
    val versionToPurge = if (purge) loadIfExists(id) else None
    versionToPurge.foreach(PurgeTable.requireGcEnabled(io, fullName(id), _))
    val purgeByServer = purge && initialClient.settings.flag(RestProperty.PurgeByServer)
    // The clean-up after earlier commits may need credentials that the server revokes with the table.
    if (versionToPurge.isDefined) environment.cleanup.await()
    val dropped = tables.drop(id, purgeByServer)
    if (dropped && !purgeByServer) versionToPurge.foreach { version =>
      PurgeTable(version.io.getOrElse(io), fullName(id), version, ownership(id, version))
    }
    dropped
  }

  /**
   * Returns the locations that the table owns. The table always owns its own location, because the server has chosen
   * it.
   */
  override def ownership(id: TableIdentifier, version: TableVersion): TableOwnership = TableOwnership(
    Some(version.metadata.location),
    id.namespace :+ id.name,
    CatalogProperty.ownedLocations(properties)
  )

  override private[catalog] def serverReceiver: Option[MetricsReports.Receiver] =
    if (initialClient.settings.flag(RestProperty.MetricsReporting)) Some(tables.report(_, _)) else None

  override def rename(from: TableIdentifier, to: TableIdentifier): Unit = tables.rename(from, to)

  override def register(id: TableIdentifier, metadataFile: String): Table =
    tableAt(id, tables.register(id, metadataFile))

  /**
   * Returns a location below the `location` of the namespace. If the namespace has no such property, returns a
   * placeholder, because the server chooses the location when a table is created.
   */
  override def defaultLocation(id: TableIdentifier): String =
    namespaces.load(id.namespace).get("location")
      .fold(RestCatalog.UndeterminedLocation)(TableLocations.inside(_, id.name))

  private def tableAt(id: TableIdentifier, version: TableVersion): Table =
    new Table(id, fullName(id), version, version.io.getOrElse(io), this)

  override def listViews(namespace: Vector[String]): Vector[TableIdentifier] = namespaces.views(namespace)
  override def canStoreViews: Boolean = server.has(Endpoint.CreateView)
  override def defaultViewLocation(id: TableIdentifier): Option[String] = None
  override def viewExists(id: TableIdentifier): Boolean = views.exists(id)
  override def loadView(id: TableIdentifier): ViewState = views.load(id)

  override def commitView(id: TableIdentifier, base: Option[ViewState], change: ViewChange): ViewState =
    views.commit(id, base, change)

  override def registerView(id: TableIdentifier, metadataFile: String): ViewState = views.register(id, metadataFile)
  override def dropView(id: TableIdentifier): Boolean = views.drop(id)
  override def renameView(from: TableIdentifier, to: TableIdentifier): Unit = views.rename(from, to)

  override def toString: String = s"RestCatalog($name)"
}

object RestCatalog extends CatalogFamily {
  override val catalogType: String = "rest"

  /** A placeholder for a location that the server has not determined yet. It is treated like an absent location. */
  private val UndeterminedLocation = "unplaced"

  override def open(
      name: String,
      properties: Map[String, String],
      io: FileIO,
      environment: Environment
  ): Catalog = {
    val settings = new RestSettings(name, properties)
    settings.checkPlanning()
    val transport = (s: RestSettings) => new JdkTransport(s)
    new RestCatalog(
      name,
      properties,
      io,
      environment,
      new RestClient(settings, transport(settings), environment),
      transport
    )
  }
}
