package iceberglite.catalog.hive

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.hive.conf.HiveConf
import org.apache.hadoop.hive.metastore.api.ShowLocksRequest
import org.apache.hadoop.hive.metastore.{HiveMetaStoreClient, IMetaStoreClient}

import iceberglite.catalog.{Catalog, CatalogFixture, CatalogProperty}
import iceberglite.servers.Servers
import iceberglite.storage.FileIO
import iceberglite.table._

/**
 * The Hive Metastore of the test environment. All its databases except `default`, and the tables in `default`, are
 * dropped before and after each test.
 */
object HiveFixture extends CatalogFixture {
  override val kind = "hive"

  override def properties(store: CatalogFixture.Store): Map[String, String] = settings + ("warehouse" -> "mem://wh")

  /** The properties of the catalog, except `warehouse`. */
  def settings: Map[String, String] = Map(
    "type" -> "hive",
    "uri" -> Servers.hive.uri,
    // With the default wait times for locks, tests with concurrent writers would be slow.
    "hadoop.iceberg.hive.lock-check-min-wait-ms" -> "5",
    "hadoop.iceberg.hive.lock-check-max-wait-ms" -> "50"
  )

  override def isNested: Boolean = false
  override def appends: Int = 4

  override def adapted(catalog: Catalog): Catalog = new NamespaceCreatingCatalog(catalog)

  override def withStore[A](body: CatalogFixture.Store => A): A =
    withMetastore(_ => body(CatalogFixture.Store(new MemoryFileIO, Map.empty)))

  /** Empties the Metastore, and runs `body` with Hive's own client. */
  def withMetastore[A](body: IMetaStoreClient => A): A = {
    val client = connect(Servers.hive.uri)
    try {
      clear(client)
      try body(client)
      finally clear(client)
    } finally client.close()
  }

  private def clear(client: IMetaStoreClient): Unit = {
    client.getAllDatabases.asScala.filter(_ != "default").foreach(client.dropDatabase(_, false, true, true))
    client.getAllTables("default").asScala.foreach(client.dropTable("default", _, false, true))
    client.showLocks(new ShowLocksRequest).getLocks.asScala.foreach(lock => client.unlock(lock.getLockid))
  }

  def connect(uri: String): IMetaStoreClient = {
    val conf = new HiveConf(new Configuration(false), classOf[HiveConf])
    conf.set("hive.metastore.uris", uri)
    new HiveMetaStoreClient(conf)
  }
}

/**
 * Creates the namespace of a new table if it is missing, as the catalogs of the other fixtures do by themselves. Suites
 * that run on all catalogs rely on this. Does not list the namespace `default`, which always exists in a Metastore.
 */
private[catalog] class NamespaceCreatingCatalog(inner: Catalog) extends Catalog {
  override def name: String = inner.name
  override def io: FileIO = inner.io
  override def properties: Map[String, String] = inner.properties
  override protected def environment: Environment = TestTables.environment
  override def listNamespaces(parent: Vector[String]): Vector[Vector[String]] =
    inner.listNamespaces(parent).filterNot(_ == Vector("default"))
  override def namespaceExists(namespace: Vector[String]): Boolean = inner.namespaceExists(namespace)
  override def loadNamespace(namespace: Vector[String]): Map[String, String] = inner.loadNamespace(namespace)

  override def createNamespace(namespace: Vector[String], properties: Map[String, String]): Unit = {
    val warehouse = CatalogProperty.Warehouse.in(this.properties).get.stripSuffix("/")
    inner.createNamespace(namespace, Map("location" -> s"$warehouse/${namespace.mkString("/")}") ++ properties)
  }

  override def alterNamespace(namespace: Vector[String], set: Map[String, String], remove: Set[String]): Unit =
    inner.alterNamespace(namespace, set, remove)
  override def dropNamespace(namespace: Vector[String]): Boolean = inner.dropNamespace(namespace)
  override def listTables(namespace: Vector[String]): Vector[TableIdentifier] = inner.listTables(namespace)
  override def tableExists(id: TableIdentifier): Boolean = inner.tableExists(id)
  override def drop(id: TableIdentifier, purge: Boolean): Boolean = inner.drop(id, purge)
  override def rename(from: TableIdentifier, to: TableIdentifier): Unit = inner.rename(from, to)
  override def register(id: TableIdentifier, metadataFile: String): Table = inner.register(id, metadataFile)
  override def defaultLocation(id: TableIdentifier): String = inner.defaultLocation(id)

  override def stage(id: TableIdentifier, creation: TableCreation, mode: StageMode): StagedTable = {
    if (mode != StageMode.Replace && !namespaceExists(id.namespace)) createNamespace(id.namespace, Map.empty)
    inner.stage(id, creation, mode)
  }

  override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion =
    inner.commit(id, base, change)
  override def load(id: TableIdentifier): TableVersion = inner.load(id)

  override protected def loadIfExists(id: TableIdentifier): Option[TableVersion] =
    throw new UnsupportedOperationException("Tables are staged by the wrapped catalog")

  override def close(): Unit = inner.close()
}
