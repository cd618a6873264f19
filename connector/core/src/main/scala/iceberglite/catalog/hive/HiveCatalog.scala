package iceberglite.catalog.hive

import scala.util.Try

import org.apache.hadoop.conf.Configuration

import iceberglite.catalog.{
  Catalog,
  CatalogFamily,
  CatalogProperty,
  Pointer,
  PointerTables,
  PointerViews,
  ViewCatalog,
  Warehouse
}
import iceberglite.maintenance.PurgeTable
import iceberglite.spec.IcebergError._
import iceberglite.spec.ObjectKind
import iceberglite.storage.{FileIO, HadoopFileIO, MetadataFiles}
import iceberglite.table._

/**
 * A catalog of tables and views in a Hive Metastore. A parameter of the Metastore's table contains the location of the
 * newest metadata file (spec: "Metastore Tables"), as in Apache Iceberg's HiveCatalog. Namespaces are the Metastore's
 * databases. Tables of other formats cannot be loaded, and are listed only if `list-all-tables` is true.
 *
 * @param warehouse the parent of databases without an explicit location; if absent, the Metastore chooses the location
 */
final class HiveCatalog private (
    val name: String,
    val properties: Map[String, String],
    warehouse: Option[String],
    val io: FileIO,
    protected val environment: Environment,
    metastore: Metastore
) extends Catalog with ViewCatalog {
  import metastore.namespaces

  private val warehouseText = warehouse.getOrElse(s"of the Hive Metastore ${metastore.uri}")
  private val tables = new PointerTables(io, environment, warehouseText)
  private val views = new PointerViews(io, environment, warehouseText)
  private val locations = CatalogProperty.ownedLocations(properties)
  private val listAll = HiveProperty.ListAll.flag(name, properties)

  override def toString: String = s"catalog $name in the Hive Metastore ${metastore.uri}"

  override def listNamespaces(parent: Vector[String]): Vector[Vector[String]] =
    if (parent.isEmpty) namespaces.all().map(Vector(_))
    else {
      requireNamespace(parent)
      Vector.empty
    }

  override def namespaceExists(namespace: Vector[String]): Boolean =
    namespace.isEmpty || namespace.size == 1 && namespaces.exists(namespace.head)

  override def loadNamespace(namespace: Vector[String]): Map[String, String] =
    (if (namespace.size == 1) namespaces.properties(namespace.head) else None).getOrElse(throw noNamespace(namespace))

  override def createNamespace(namespace: Vector[String], properties: Map[String, String]): Unit =
    namespaces.create(database(namespace), properties)

  override def alterNamespace(namespace: Vector[String], set: Map[String, String], remove: Set[String]): Unit = {
    requireNamespace(namespace)
    namespaces.alter(database(namespace), set, remove)
  }

  override def dropNamespace(namespace: Vector[String]): Boolean =
    namespace.size == 1 && namespaces.drop(namespace.head)

  override def listTables(namespace: Vector[String]): Vector[TableIdentifier] =
    if (listAll) listIdentifiers(namespace)(metastore.names)
    else listIdentifiers(namespace)(metastore.namesOfKind(_, HiveKind.IcebergTable))

  override def tableExists(id: TableIdentifier): Boolean = tablePointer(id).read().isDefined

  override def load(id: TableIdentifier): TableVersion =
    tables.load(tablePointer(id)).getOrElse(throw notFound(HiveKind.IcebergTable, id))

  override def reload(id: TableIdentifier, known: TableVersion): TableVersion =
    tables.reload(tablePointer(id), known).getOrElse(throw notFound(HiveKind.IcebergTable, id))

  /**
   * Loads the table. If the table does not exist, but another kind of object has the name, an error is thrown here,
   * i.e. before data is written.
   */
  override protected def loadIfExists(id: TableIdentifier): Option[TableVersion] = {
    val found = tables.load(tablePointer(id))
    if (found.isEmpty) metastore.rejectExisting(id, fullName(id))
    found
  }

  override def drop(id: TableIdentifier, purge: Boolean): Boolean =
    if (purge) dropAndPurge(id)
    else tableExists(id) && metastore.drop(HiveKind.IcebergTable, id, fullName(id)).isDefined

  /** Drops a table and deletes the files of its last version, even if a concurrent commit created that version. */
  private def dropAndPurge(id: TableIdentifier): Boolean = tables.load(tablePointer(id)).exists { version =>
    PurgeTable.requireGcEnabled(io, fullName(id), version)
    val owned = ownership(id, version)
    environment.cleanup.await()
    val dropped = metastore.drop(HiveKind.IcebergTable, id, fullName(id))
    dropped.foreach { location =>
      val lastMetadata =
        if (location == version.metadataLocation) version.metadata else MetadataFiles.read(io, location)
      PurgeTable(io, fullName(id), TableVersion(lastMetadata, location), owned)
    }
    dropped.isDefined
  }

  override def rename(from: TableIdentifier, to: TableIdentifier): Unit = renameObject(HiveKind.IcebergTable, from, to)

  override def register(id: TableIdentifier, metadataFile: String): Table = {
    requireNew(id)
    tables.register(fullName(id), tablePointer(id), metadataFile)
    table(id)
  }

  override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
    if (base.isEmpty) requireNew(id)
    tables.commit(fullName(id), tablePointer(id), base, change, ownership(id, _))
  }

  override def defaultLocation(id: TableIdentifier): String = locationOf(id, uniqueDirectoryName(id.name))

  private def locationOf(id: TableIdentifier, directory: String): String =
    TableLocations.inside(namespaces.location(database(id.namespace)), directory)

  override def ownership(id: TableIdentifier, version: TableVersion): TableOwnership = TableOwnership(
    // The table owns its directory only if the database has its default location. Users can set another location of the
    // database with SQL, and that location may also contain files of other catalogs.
    if (namespaces.hasDefaultLocation(database(id.namespace), io.defaultFileSystem))
      Try(locationOf(id, id.name)).toOption
    else None,
    id.namespace :+ id.name,
    locations,
    others = directory => otherTables(id).filter(_.directory.overlaps(directory)),
    usedDirectories = () =>
      UsedDirectories.all(io) {
        for (table <- otherLocations(id) if table.isTable; location <- table.metadataLocation)
          yield fullName(table.id) -> location
      }
  )

  /** Returns all tables and views of the Metastore except the given table, including those of other formats. */
  private def otherTables(id: TableIdentifier): Vector[OtherTable] =
    otherLocations(id).flatMap { table =>
      val tableName = fullName(table.id)
      table.metadataLocation.flatMap(OtherTable.of(io, tableName, _)) ++
        table.directory.flatMap(OtherTable.at(io, tableName, _, table.metadataLocation))
    }

  private def otherLocations(id: TableIdentifier): Vector[HiveTableLocation] =
    metastore.tableLocations().filterNot(p =>
      p.id == TableIdentifier(id.namespace.map(_.toLowerCase), id.name.toLowerCase)
    )

  override def listViews(namespace: Vector[String]): Vector[TableIdentifier] =
    listIdentifiers(namespace)(metastore.namesOfKind(_, HiveKind.IcebergView))

  override def viewExists(id: TableIdentifier): Boolean = viewPointer(id).read().isDefined

  override def loadView(id: TableIdentifier): ViewState =
    views.load(viewPointer(id)).getOrElse(throw notFound(HiveKind.IcebergView, id))

  override def commitView(id: TableIdentifier, base: Option[ViewState], change: ViewChange): ViewState = {
    if (base.isEmpty) requireNew(id)
    views.commit(fullName(id), viewPointer(id), base, change)
  }

  override def registerView(id: TableIdentifier, metadataFile: String): ViewState = {
    requireNew(id)
    views.register(fullName(id), viewPointer(id), metadataFile)
  }

  /** Drops a view. Its metadata file is kept, because another name or catalog may refer to it. */
  override def dropView(id: TableIdentifier): Boolean =
    viewExists(id) && metastore.drop(HiveKind.IcebergView, id, fullName(id)).isDefined

  override def renameView(from: TableIdentifier, to: TableIdentifier): Unit =
    renameObject(HiveKind.IcebergView, from, to)

  override def close(): Unit =
    try super.close()
    finally metastore.close()

  private def renameObject(kind: HiveKind[_], from: TableIdentifier, to: TableIdentifier): Unit = {
    requireNew(to)
    if (!metastore.rename(kind, from, to, fullName(from), fullName(to))) throw notFound(kind, from)
  }

  private def tablePointer(id: TableIdentifier): Pointer[TableVersion] =
    metastore.pointer(HiveKind.IcebergTable, id, fullName(id))

  private def viewPointer(id: TableIdentifier): Pointer[ViewState] =
    metastore.pointer(HiveKind.IcebergView, id, fullName(id))

  /**
   * Returns the identifiers of the tables or views in a namespace. If there are none, checks that the namespace exists,
   * because the Metastore also returns an empty list for a missing database.
   *
   * @param names lists the names of the tables or views in a database
   */
  private def listIdentifiers(namespace: Vector[String])(names: String => Vector[String]): Vector[TableIdentifier] = {
    val found = if (namespace.size == 1) names(namespace.head) else Vector.empty
    if (found.isEmpty) requireNamespace(namespace)
    found.map(TableIdentifier(namespace, _))
  }

  private def database(namespace: Vector[String]): String =
    if (namespace.size == 1) namespace.head
    else throw InvalidArgument(
      "namespace",
      s"'${namespace.mkString(".")}'",
      "The namespaces of a Hive Metastore are its databases, which have one level"
    )

  /**
   * Checks the namespace and the name of a new table or view. The Metastore would also reject invalid names, but with
   * less clear errors, and only after the lock is acquired.
   */
  private def requireNew(id: TableIdentifier): Unit = {
    requireNamespace(Vector(database(id.namespace)))
    if (id.name.length > HiveCatalog.MaxNameLength || id.name.exists(c => c == '\'' || c == ';')) throw InvalidArgument(
      "table name",
      s"'${id.name}'",
      s"A name in a Hive Metastore has at most ${HiveCatalog.MaxNameLength} characters, and no quotes or semicolons"
    )
  }

  private def requireNamespace(namespace: Vector[String]): Unit =
    if (!namespaceExists(namespace)) throw noNamespace(namespace)

  private def noNamespace(namespace: Vector[String]): NotFound = namespaces.noNamespace(namespace.mkString("."))

  private def notFound(kind: HiveKind[_], id: TableIdentifier): NotFound = {
    def advice =
      s"SHOW ${kind.noun.toUpperCase}S lists the ${kind.noun}s of the namespace ${(name +: id.namespace).mkString(".")}"
    val conflict =
      metastore.otherKind(id).map(what => s"There is a $what with this name, which is not an Iceberg ${kind.noun}")
    NotFound(kind.objectKind, fullName(id), conflict.getOrElse(advice))
  }
}

object HiveCatalog extends CatalogFamily {
  override val catalogType: String = "hive"
  private val ClientClass = "org.apache.hadoop.hive.metastore.HiveMetaStoreClient"
  private val MaxNameLength = 128
  private val WarehouseKey = "hive.metastore.warehouse.dir"
  private val UrisKey = "hive.metastore.uris"

  override def open(
      name: String,
      properties: Map[String, String],
      io: FileIO,
      environment: Environment
  ): Catalog = {
    requireClasses(name)
    val conf = configuration(properties, io)
    val warehouse = Option(conf.get(WarehouseKey)).filter(_.nonEmpty).map(Warehouse.of)
    val metastore = Metastore.open(
      name,
      conf,
      warehouse,
      CatalogProperty.clients(name, properties),
      HiveProperty.IdleMs.number(name, properties, minimum = 0).getOrElse(0),
      environment
    )
    new HiveCatalog(name, properties, warehouse, io, environment, metastore)
  }

  /**
   * Returns the Hadoop configuration of the session, in which catalog properties replace the corresponding Hive
   * settings.
   */
  private def configuration(properties: Map[String, String], io: FileIO): Configuration = {
    val conf = io match {
      case hadoop: HadoopFileIO => new Configuration(hadoop.configuration)
      case _ => new Configuration
    }
    CatalogProperty.Hadoop.in(properties).foreach { case (key, value) => conf.set(key, value) }
    CatalogProperty.Uri.in(properties).foreach(conf.set(UrisKey, _))
    CatalogProperty.Warehouse.in(properties).foreach(w => conf.set(WarehouseKey, Warehouse.of(w)))
    conf
  }

  private def requireClasses(name: String): Unit =
    if (Try(Class.forName(ClientClass, false, getClass.getClassLoader)).isFailure) throw NotFound(
      ObjectKind.Class,
      s"$ClientClass, which catalog $name needs",
      "Use a Spark distribution with Hive, which contains the jars hive-metastore, hive-common, hive-serde, " +
        "hive-shims and libthrift, or add these jars of Hive 2.3.9 to the class path of the session"
    )
}
