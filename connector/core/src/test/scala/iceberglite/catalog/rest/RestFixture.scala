package iceberglite.catalog.rest

import java.nio.file.{Files, Path}

import org.apache.hadoop.conf.Configuration

import iceberglite.FilesBelow
import iceberglite.catalog.{Catalog, CatalogFixture, CatalogProperty, FileIOWrapper}
import iceberglite.catalog.hive.NamespaceCreatingCatalog
import iceberglite.servers.Servers
import iceberglite.storage.HadoopFileIO
import iceberglite.table._

/** The REST server of the test environment. All its tables and namespaces are dropped before and after each test. */
object RestFixture extends CatalogFixture {
  override val kind = "rest"
  override def readsMetadata: Boolean = false

  override def properties(store: CatalogFixture.Store): Map[String, String] =
    Map("type" -> "rest", "uri" -> Servers.rest.uri, "warehouse" -> s"${store.place}/wh")

  override def adapted(catalog: Catalog): Catalog = new WarehouseLocationCatalog(catalog)

  override def withStore[A](body: CatalogFixture.Store => A): A = {
    val directory = Files.createTempDirectory("rest")
    val store = CatalogFixture.Store(new DirectoryFiles(directory), Map.empty, s"file://$directory")
    clear(store)
    try body(store)
    finally clear(store)
  }

  private def clear(store: CatalogFixture.Store): Unit = {
    val catalog = open(store, store.files)
    def drop(namespace: Vector[String]): Unit = {
      catalog.listNamespaces(namespace).foreach(drop)
      catalog.listTables(namespace).foreach(catalog.drop(_, purge = false))
      if (namespace.nonEmpty) catalog.dropNamespace(namespace)
    }
    drop(Vector.empty)
  }
}

/** Creates tables below the `warehouse` in the catalog properties, instead of the server's default location. */
final private class WarehouseLocationCatalog(inner: Catalog) extends NamespaceCreatingCatalog(inner) {

  override def stage(id: TableIdentifier, creation: TableCreation, mode: StageMode): StagedTable = {
    val warehouse = CatalogProperty.Warehouse.in(properties).get.stripSuffix("/")
    val location = (warehouse +: id.namespace :+ id.name).mkString("/")
    val isNew = !inner.tableExists(id)
    (1 until id.namespace.size).map(id.namespace.take).filterNot(namespaceExists).foreach(createNamespace(_, Map.empty))
    super.stage(id, if (isNew) creation.copy(location = creation.location.orElse(Some(location))) else creation, mode)
  }
}

/** The files of a local directory. */
final private class DirectoryFiles(directory: Path)
    extends FileIOWrapper(new HadoopFileIO(new Configuration))
    with ListableFiles {

  override def paths: Set[String] = FilesBelow.of(directory).map(p => s"file://$p")
}
