package iceberglite.catalog.hive

import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.hive.metastore.IMetaStoreClient
import org.apache.hadoop.hive.metastore.api.{Table => HiveTable}
import org.apache.iceberg.hive.{HiveCatalog => PeerCatalog}
import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.FilesBelow
import iceberglite.catalog.{Catalog, Catalogs, ViewCatalog}
import iceberglite.catalog.CatalogFixture.Id
import iceberglite.servers.Servers
import iceberglite.storage.HadoopFileIO
import iceberglite.table.{Table, TestTables}
import iceberglite.table.action.FastAppend

/** Gives each test a Metastore with an empty database `db`, and opens catalogs of iceberg-lite and Apache Iceberg. */
trait HiveTests extends AnyFunSuite {

  final protected class Metastore(val client: IMetaStoreClient, directory: Path) extends AutoCloseable {
    private var opened = Vector.empty[AutoCloseable]
    val warehouse: String = s"file://$directory/wh"

    def open(settings: (String, String)*): HiveCatalog = {
      val properties = HiveFixture.settings + ("warehouse" -> warehouse) ++ settings
      val catalog = Catalogs.open("lite", properties, new HadoopFileIO(new Configuration(false)))
      closeAtEnd(catalog)
      catalog match {
        case hive: HiveCatalog => hive
        case other => fail(s"$other")
      }
    }

    def peer(settings: (String, String)*): PeerCatalog = {
      val catalog = new PeerCatalog
      val conf = new Configuration(false)
      (HiveFixture.settings ++ settings).foreach { case (key, value) => conf.set(key.stripPrefix("hadoop."), value) }
      catalog.setConf(conf)
      catalog.initialize("ice", Map("uri" -> Servers.hive.uri, "warehouse" -> warehouse).asJava)
      closeAtEnd(catalog)
      catalog
    }

    def proxy(): ThriftProxy = closeAtEnd(new ThriftProxy(Servers.hive.uri))

    /** Returns the table as stored in the Metastore. */
    def stored(name: String = Id.name): HiveTable = client.getTable("db", name)
    def parameters(name: String = Id.name): Map[String, String] = stored(name).getParameters.asScala.toMap

    /** Returns the paths of all files in the test's directory whose names end with `ending`. */
    def files(ending: String): Set[String] = FilesBelow.of(directory).map(_.toString).filter(_.endsWith(ending))

    private def closeAtEnd[A <: AutoCloseable](resource: A): A = {
      opened :+= resource
      resource
    }

    override def close(): Unit = opened.reverse.foreach(_.close())
  }

  protected def onHive(name: String, tags: Tag*)(body: Metastore => Unit): Unit = test(name, tags: _*) {
    HiveFixture.withMetastore { client =>
      val directory = Files.createTempDirectory("hive-tests")
      val metastore = new Metastore(client, directory)
      try {
        metastore.open().createNamespace(Vector("db"), Map.empty)
        body(metastore)
      } finally {
        metastore.close()
        new HadoopFileIO(new Configuration(false)).deleteDirectory(directory.toString)
      }
    }
  }

  protected def append(table: Table, path: String): Table =
    table.transaction().add(new FastAppend(Vector(TestTables.file(path)))).commit()

  protected def views(catalog: Catalog): ViewCatalog = catalog match {
    case views: ViewCatalog => views
    case other => fail(s"The catalog $other does not support views")
  }
}
