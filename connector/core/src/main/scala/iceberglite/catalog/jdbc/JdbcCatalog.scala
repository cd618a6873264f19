package iceberglite.catalog.jdbc

import java.sql.SQLException

import scala.annotation.tailrec
import scala.util.Try

import iceberglite.catalog.{
  Catalog,
  CatalogFamily,
  CatalogProperty,
  PointerTables,
  PointerViews,
  ViewCatalog,
  Warehouse
}
import iceberglite.maintenance.PurgeTable
import iceberglite.spec.IcebergError._
import iceberglite.spec.ObjectKind
import iceberglite.storage.FileIO
import iceberglite.table._

/**
 * A catalog that stores tables and views in a database. Each table or view has a row that contains the location of its
 * newest metadata file (spec: "Metastore Tables"). A commit updates the row. The tables and columns in the database are
 * those of PyIceberg's SqlCatalog and Apache Iceberg's JdbcCatalog.
 *
 * @param warehouse the location of tables without an explicit location
 */
final class JdbcCatalog private (
    val name: String,
    val properties: Map[String, String],
    warehouse: String,
    val io: FileIO,
    protected val environment: Environment,
    pool: JdbcPool
) extends Catalog with ViewCatalog {
  private val databaseTables = new JdbcTables(
    pool,
    name,
    JdbcProperty.InitTables.flag(name, properties),
    JdbcProperty.schemaVersion(name, properties)
  )

  /**
   * The catalog's name in the database (column `catalog_name`). Messages contain the catalog's name in the Spark
   * session instead.
   */
  private val storedName = CatalogProperty.StoredName.in(properties).getOrElse(name)
  private val rows = new JdbcRows(pool, databaseTables, storedName)
  private val namespaces = new JdbcNamespaces(pool, databaseTables, storedName)
  private val tables = new PointerTables(io, environment, warehouse)
  private val views = new PointerViews(io, environment, warehouse)
  private val locations = CatalogProperty.ownedLocations(properties)
  private val strict = JdbcProperty.StrictMode.flag(name, properties)

  override def toString: String = s"catalog $name in $pool"

  private def allNamespaces(): Vector[Vector[String]] =
    pool.withRetries("list namespaces")(rows.namespaces() ++ namespaces.all()).distinct.map(JdbcNames.levels)

  override def listNamespaces(parent: Vector[String]): Vector[Vector[String]] = {
    val all = allNamespaces()
    if (parent.nonEmpty && !all.exists(_.startsWith(parent))) throw noNamespace(parent)
    all.filter(n => n.size > parent.size && n.startsWith(parent)).map(_.take(parent.size + 1)).distinct.sortBy(_.last)
  }

  override def namespaceExists(namespace: Vector[String]): Boolean =
    namespace.isEmpty || allNamespaces().exists(_.startsWith(namespace))

  override def loadNamespace(namespace: Vector[String]): Map[String, String] = {
    requireNamespace(namespace)
    Map("location" -> namespace.foldLeft(warehouse)(TableLocations.inside)) ++ propertiesOf(namespace)
  }

  private def propertiesOf(namespace: Vector[String]): Map[String, String] =
    pool.withRetries("read namespace properties")(namespaces.properties(JdbcNames.join(namespace)))

  override def createNamespace(namespace: Vector[String], properties: Map[String, String]): Unit = {
    def alreadyExists =
      AlreadyExists(ObjectKind.Namespace, fullName(namespace), "Use the existing namespace, or choose another name")
    val checkedNamespace = JdbcNames.newNamespace(namespace)
    if (namespaceExists(namespace)) throw alreadyExists
    var attempts = 0
    val created = pool.withRetries("create a namespace") {
      attempts += 1
      namespaces.create(checkedNamespace, properties, isRetry = attempts > 1)
    }
    if (!created) throw alreadyExists
  }

  override def alterNamespace(namespace: Vector[String], set: Map[String, String], remove: Set[String]): Unit = {
    requireNamespace(namespace)
    pool.withRetries("change a namespace")(namespaces.alter(JdbcNames.join(namespace), set, remove))
  }

  override def dropNamespace(namespace: Vector[String]): Boolean =
    if (namespace.isEmpty || !namespaceExists(namespace)) false
    else {
      val kinds = if (canStoreViews) RowKind.all else Seq(RowKind.Table)
      val contents = kinds.flatMap(names(_, namespace)) ++ listNamespaces(namespace).map(_.last)
      if (contents.nonEmpty) {
        throw ValidationFailed(
          s"Cannot drop namespace ${fullName(namespace)}: it is not empty. It contains " +
            contents.sorted.mkString(", ")
        )
      }
      pool.withRetries("drop a namespace")(namespaces.delete(JdbcNames.join(namespace)))
      true
    }

  override def listTables(namespace: Vector[String]): Vector[TableIdentifier] =
    listIdentifiers(RowKind.Table, namespace)

  override def tableExists(id: TableIdentifier): Boolean = tablePointer(id).read().isDefined

  override def load(id: TableIdentifier): TableVersion = loadIfExists(id).getOrElse(throw notFound(RowKind.Table, id))

  override def reload(id: TableIdentifier, known: TableVersion): TableVersion =
    tables.reload(tablePointer(id), known).getOrElse(throw notFound(RowKind.Table, id))

  override protected def loadIfExists(id: TableIdentifier): Option[TableVersion] = tables.load(tablePointer(id))

  override def stage(id: TableIdentifier, creation: TableCreation, mode: StageMode): StagedTable = {
    if (viewExists(id)) {
      throw AlreadyExists(
        ObjectKind.View,
        fullName(id),
        "A table and a view cannot have the same name. Drop the view first, or choose another name"
      )
    }
    super.stage(id, creation, mode)
  }

  override def drop(id: TableIdentifier, purge: Boolean): Boolean =
    if (purge) dropAndPurge(id)
    else {
      var attempts = 0
      pool.withRetries("drop a table") {
        attempts += 1
        rows.delete(RowKind.Table, JdbcNames.join(id.namespace), id.name, None) > 0 || attempts > 1
      }
    }

  /**
   * Drops a table and deletes the files of its last version. The table's row is deleted only if it still contains the
   * location of the loaded version. If a concurrent commit or rename has changed the row, the table is loaded again and
   * the drop is repeated.
   */
  @tailrec
  private def dropAndPurge(id: TableIdentifier): Boolean = loadIfExists(id) match {
    case None => false
    case Some(version) =>
      PurgeTable.requireGcEnabled(io, fullName(id), version)
      val owned = ownership(id, version)
      val expectedLocation = Some(version.metadataLocation)
      environment.cleanup.await()
      val dropped = pool.withRetries("drop a table", idempotent = false) {
        rows.delete(RowKind.Table, JdbcNames.join(id.namespace), id.name, expectedLocation)
      }
      if (dropped == 0) dropAndPurge(id)
      else {
        PurgeTable(io, fullName(id), version, owned)
        true
      }
  }

  override def rename(from: TableIdentifier, to: TableIdentifier): Unit = renameRow(RowKind.Table, from, to)

  override def register(id: TableIdentifier, metadataFile: String): Table = {
    JdbcNames.checkNewName(RowKind.Table, id)
    requireIfStrict(id.namespace)
    tables.register(fullName(id), tablePointer(id), metadataFile)
    table(id)
  }

  override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
    if (base.isEmpty) {
      JdbcNames.checkNewName(RowKind.Table, id)
      requireIfStrict(id.namespace)
    }
    tables.commit(fullName(id), tablePointer(id), base, change, ownership(id, _))
  }

  override def defaultLocation(id: TableIdentifier): String = locationOf(id, uniqueDirectoryName(id.name))

  private def locationOf(id: TableIdentifier, directory: String): String = {
    def inside(parent: String, kind: String, name: String): String =
      TableLocations.inside(parent, JdbcNames.checkDirectoryName(kind, name))
    def ofNamespace = id.namespace.foldLeft(warehouse)(inside(_, "namespace", _))
    val parent = propertiesOf(id.namespace).getOrElse("location", ofNamespace)
    inside(parent, "table name", directory)
  }

  override def ownership(id: TableIdentifier, version: TableVersion): TableOwnership = TableOwnership(
    // The table owns its directory only if the namespace has its default location. Users can set another location of
    // the namespace with SQL, and that location may also contain files of other catalogs. A table whose name is not a
    // valid directory name has no default location.
    if (propertiesOf(id.namespace).contains("location")) None else Try(locationOf(id, id.name)).toOption,
    id.namespace :+ id.name,
    locations,
    others = directory => otherTables(id).filter(_.directory.overlaps(directory)),
    usedDirectories = () =>
      UsedDirectories.all(io)(otherRows(id, rows.allTables()).map(row => qualifiedName(row) -> row.location)),
    metadataFilesOfOthers = file => otherRows(id, rows.findByFileName(file)).map(_.location)
  )

  /**
   * Returns all tables and views in the database except the given table, including those of other catalogs that use the
   * database. Each of them is returned with the directory that the path of its metadata file shows; see
   * [[OtherTable.of]]. The tables and views of this catalog are returned a second time, with their default directory.
   */
  private def otherTables(id: TableIdentifier): Vector[OtherTable] = otherRows(id, rows.all()).flatMap { row =>
    val directory = (JdbcNames.levels(row.namespace) :+ row.name).foldLeft(warehouse)(TableLocations.inside)
    OtherTable.of(io, qualifiedName(row), row.location) ++
      (if (row.catalog == storedName) OtherTable.at(io, qualifiedName(row), directory, Some(row.location)) else None)
  }

  private def otherRows(id: TableIdentifier, found: => Vector[JdbcRows.Row]): Vector[JdbcRows.Row] =
    pool.withRetries("look for other tables")(found).filterNot { row =>
      row.catalog == storedName && row.namespace == JdbcNames.join(id.namespace) && row.name == id.name
    }

  private def qualifiedName(row: JdbcRows.Row): String = s"${row.catalog}.${row.namespace}.${row.name}"

  override def listViews(namespace: Vector[String]): Vector[TableIdentifier] = {
    requireViews()
    listIdentifiers(RowKind.View, namespace)
  }

  override def viewExists(id: TableIdentifier): Boolean = viewLocation(id).isDefined

  override def loadView(id: TableIdentifier): ViewState =
    (if (canStoreViews) views.load(viewPointer(id)) else None).getOrElse(throw notFound(RowKind.View, id))

  override def commitView(id: TableIdentifier, base: Option[ViewState], change: ViewChange): ViewState = {
    requireViews()
    if (base.isEmpty) checkNewView(id)
    views.commit(fullName(id), viewPointer(id), base, change)
  }

  override def registerView(id: TableIdentifier, metadataFile: String): ViewState = {
    requireViews()
    checkNewView(id)
    views.register(fullName(id), viewPointer(id), metadataFile)
  }

  private def checkNewView(id: TableIdentifier): Unit = {
    JdbcNames.checkNewName(RowKind.View, id)
    requireIfStrict(id.namespace)
  }

  /** Drops a view. Its metadata file is kept, because another name or catalog may refer to it. */
  override def dropView(id: TableIdentifier): Boolean = viewLocation(id) match {
    case None => false
    case Some(location) =>
      val dropped = pool.withRetries("drop a view", idempotent = false) {
        rows.delete(RowKind.View, JdbcNames.join(id.namespace), id.name, Some(location))
      }
      // If no row was deleted, the view was changed or dropped concurrently. In this case, the drop is repeated, even
      // if another view with this name has been created.
      dropped > 0 || dropView(id)
  }

  override def renameView(from: TableIdentifier, to: TableIdentifier): Unit = {
    requireViews()
    renameRow(RowKind.View, from, to)
  }

  override def close(): Unit =
    try super.close()
    finally pool.close()

  private def renameRow(kind: RowKind, from: TableIdentifier, to: TableIdentifier): Unit = {
    JdbcNames.checkNewName(kind, to)
    requireNamespace(to.namespace)
    val location = pointer[String](kind, from, identity).read().getOrElse(throw notFound(kind, from))
    val count = pool.withRetries(s"rename a ${kind.noun}") {
      try rows.rename(kind, JdbcNames.join(from.namespace), from.name, JdbcNames.join(to.namespace), to.name)
      catch {
        case e: SQLException if SqlState.isDuplicate(e) =>
          throw AlreadyExists(
            ObjectKind.TableOrView,
            fullName(to),
            "Drop the existing object first, or choose another name"
          )
      }
    }
    // If no row was renamed, but the row with the new name refers to the same metadata file, an earlier attempt has
    // already renamed the object. The response to that attempt was lost.
    if (count == 0 && !pointer[String](kind, to, identity).read().contains(location)) throw notFound(kind, from)
  }

  private def pointer[V](kind: RowKind, id: TableIdentifier, locationOf: V => String): JdbcPointer[V] = {
    val joinedNamespace = JdbcNames.join(id.namespace)
    new JdbcPointer(
      pool,
      rows,
      kind,
      joinedNamespace,
      JdbcNames.checkCharacters(s"${kind.noun} name", id.name),
      fullName(id),
      locationOf
    )
  }

  private def tablePointer(id: TableIdentifier): JdbcPointer[TableVersion] =
    pointer(RowKind.Table, id, _.metadataLocation)

  private def viewPointer(id: TableIdentifier): JdbcPointer[ViewState] = pointer(RowKind.View, id, _.metadataLocation)

  private def viewLocation(id: TableIdentifier): Option[String] = if (canStoreViews) viewPointer(id).read() else None

  override def canStoreViews: Boolean = pool.withRetries("look for views")(rows.canStoreViews)

  private def requireViews(): Unit = if (!canStoreViews) {
    throw Unsupported(
      s"views in catalog $name, whose database has tables of schema version V0",
      s"Set ${JdbcProperty.SchemaVersion.key}=V1 once. It adds the column iceberg_type, which views need, to the " +
        "database table iceberg_tables"
    )
  }

  private def listIdentifiers(kind: RowKind, namespace: Vector[String]): Vector[TableIdentifier] = {
    requireNamespace(namespace)
    names(kind, namespace).map(TableIdentifier(namespace, _))
  }

  private def names(kind: RowKind, namespace: Vector[String]): Vector[String] =
    pool.withRetries(s"list ${kind.noun}s")(rows.names(kind, JdbcNames.join(namespace)))

  private def requireIfStrict(namespace: Vector[String]): Unit = if (strict) requireNamespace(namespace)

  private def requireNamespace(namespace: Vector[String]): Unit =
    if (!namespaceExists(namespace)) throw noNamespace(namespace)

  private def notFound(kind: RowKind, id: TableIdentifier): NotFound = {
    val command = if (kind == RowKind.Table) "SHOW TABLES" else "SHOW VIEWS"
    NotFound(
      kind.objectKind,
      fullName(id),
      s"$command lists the ${kind.noun}s of the namespace ${fullName(id.namespace)}"
    )
  }

  private def noNamespace(namespace: Vector[String]): NotFound =
    NotFound(ObjectKind.Namespace, fullName(namespace), "List the namespaces with SHOW NAMESPACES")

  private def fullName(namespace: Vector[String]): String = (name +: namespace).mkString(".")
}

object JdbcCatalog extends CatalogFamily {
  override val catalogType: String = "jdbc"

  override def open(
      name: String,
      properties: Map[String, String],
      io: FileIO,
      environment: Environment
  ): Catalog = {
    val uri = CatalogProperty.Uri.require(name, properties, "jdbc:sqlite:/data/catalog.db")
    val url = new JdbcUrl(uri, JdbcProperty.ofDriver(properties))
    if (!uri.startsWith("jdbc:")) {
      // The value is not part of the message, because it may contain a password.
      val reason = "The URI of a JDBC catalog must begin with jdbc:, such as jdbc:postgresql://host/database"
      throw InvalidArgument(s"uri of catalog $name", uri.takeWhile(c => c != ':' && c != '/') + "...", reason)
    }
    val warehouse = CatalogProperty.Warehouse.require(name, properties, "file:///data/warehouse")
    val pool = new JdbcPool(
      url,
      CatalogProperty.clients(name, properties),
      JdbcProperty.retryable(properties),
      environment
    )
    new JdbcCatalog(name, properties, Warehouse.of(warehouse), io, environment, pool)
  }
}
