package iceberglite.peer

import java.nio.file.{Files, Path}
import java.util.concurrent.{Callable, Executors, TimeUnit}

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.iceberg.catalog.{Namespace, TableIdentifier => PeerId}
import org.apache.iceberg.jdbc.{JdbcCatalog => PeerCatalog}
import org.apache.iceberg.types.Types
import org.apache.iceberg.{CatalogUtil, DataFiles, PartitionSpec, Schema => PeerSchema}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{FilesBelow, Sampling}
import iceberglite.catalog.{Catalog, CatalogFixture, Catalogs, ViewCatalog}
import iceberglite.catalog.jdbc.{SampleViews, TestDatabase}
import iceberglite.servers.JdbcDatabase
import iceberglite.spec.IcebergError.AlreadyExists
import iceberglite.storage.{HadoopFileIO, MetadataFiles}
import iceberglite.table.{CommitContext, Table, TableCreation, TableIdentifier}
import iceberglite.table.TestTables._
import iceberglite.table.action.{FastAppend, UpdateProperties}

/** Tests that iceberg-lite and Apache Iceberg can use the same JDBC catalog at the same time. */
class PeerJdbcSuite extends AnyFunSuite {
  import CatalogFixture.Id
  private val Theirs = PeerId.of("db", "t")
  private val peerSchema = new PeerSchema(
    Types.NestedField.required(1, "id", Types.LongType.get),
    Types.NestedField.optional(2, "category", Types.StringType.get)
  )

  final private class Shared(database: JdbcDatabase, directory: Path) {
    val properties: Map[String, String] = TestDatabase.properties(database) + ("warehouse" -> s"file://$directory/wh")

    def ours(more: (String, String)*): Catalog =
      Catalogs.open("lite", properties ++ more, new HadoopFileIO(new Configuration(false)))

    def theirs(more: (String, String)*): PeerCatalog = {
      // With SQLite, a statement waits up to 10 s for the lock that another writer has on the database file.
      val timeouts = if (database.url.startsWith("jdbc:sqlite:")) Map("jdbc.busy_timeout" -> "10000") else Map.empty
      CatalogUtil.loadCatalog(
        classOf[PeerCatalog].getName,
        "lite",
        (properties - "type" ++ timeouts ++ more).asJava,
        new Configuration(false)
      ).asInstanceOf[PeerCatalog]
    }

    def metadataFiles: Set[String] =
      FilesBelow.of(directory).map(f => s"file://$f").filter(_.endsWith(".metadata.json"))
  }

  private val databases = Seq(TestDatabase.Sqlite, TestDatabase.PostgresPerTest)

  private def onEach(name: String)(body: Shared => Unit): Unit = databases.foreach { kind =>
    test(s"$name (${kind.name})", Sampling.slowUnless(kind.name == "SQLite"): _*) {
      val directory = Files.createTempDirectory("peer-jdbc")
      try kind.withNew(database => body(new Shared(database, directory)))
      finally new HadoopFileIO(new Configuration(false)).deleteDirectory(directory.toString)
    }
  }

  private def append(table: Table, path: String): Table =
    table.transaction().add(new FastAppend(Vector(file(path)))).commit()

  private def appendWithPeer(catalog: PeerCatalog, path: String): Unit = {
    val entry = DataFiles.builder(PartitionSpec.unpartitioned).withPath(path).withFormat("parquet")
      .withFileSizeInBytes(100).withRecordCount(10).build()
    catalog.loadTable(Theirs).newFastAppend().appendFile(entry).commit()
  }

  private def pathsOf(catalog: PeerCatalog): Vector[String] = {
    val tasks = catalog.loadTable(Theirs).newScan().planFiles()
    try tasks.asScala.map(_.file.location).toVector.sorted
    finally tasks.close()
  }

  onEach("this library and Apache Iceberg can use each other's tables and namespaces") { shared =>
    val (ours, theirs) = (shared.ours(), shared.theirs())
    ours.createNamespace(Vector("db"), Map("comment" -> "both's"))
    append(ours.create(Id, unpartitioned("a" -> "b")), "x")
    assert(theirs.listTables(Namespace.of("db")).asScala == Seq(Theirs))
    assert(theirs.loadNamespaceMetadata(Namespace.of("db")).get("comment") == "both's")
    appendWithPeer(theirs, "y")
    theirs.loadTable(Theirs).updateProperties().set("c", "d").commit()
    assert(liveFiles(ours.table(Id)) == Vector("x", "y") && ours.table(Id).properties("c") == "d")
    append(ours.table(Id), "z")
    assert(pathsOf(theirs) == Vector("x", "y", "z"))

    val other = PeerId.of(Namespace.of("deep", "er"), "p")
    theirs.createNamespace(Namespace.of("deep", "er"), Map("k" -> "v").asJava)
    theirs.createTable(other, peerSchema)
    val id = TableIdentifier(Vector("deep", "er"), "p")
    assert(ours.loadNamespace(Vector("deep", "er"))("k") == "v" && ours.listNamespaces(Vector("deep")).size == 1)
    append(ours.table(id), "x")
    theirs.renameTable(other, PeerId.of("db", "q"))
    assert(liveFiles(ours.table(Id.copy(name = "q"))) == Vector("x"))
    ours.rename(Id.copy(name = "q"), Id.copy(name = "r"))
    assert(theirs.dropTable(PeerId.of("db", "r"), false) && !ours.tableExists(Id.copy(name = "r")))
  }

  onEach("this library and Apache Iceberg can use each other's views") { shared =>
    val ours = shared.ours() match { case c: ViewCatalog with Catalog => c }
    val theirs = shared.theirs("jdbc.schema-version" -> "V1")
    val id = TableIdentifier(Vector("db"), "v")
    ours.createNamespace(Vector("db"), Map.empty)
    val viewOfLite = ours.commitView(id, None, SampleViews.create(ours.defaultLocation(id), "SELECT 1"))
    val viewOfPeer = theirs.loadView(PeerId.of("db", "v"))
    assert(viewOfPeer.sqlFor("spark").sql == "SELECT 1" && viewOfPeer.uuid == viewOfLite.metadata.uuid.get)
    viewOfPeer.replaceVersion().withSchema(peerSchema).withQuery("spark", "SELECT 2")
      .withDefaultNamespace(Namespace.of("db")).commit()
    val changed = ours.loadView(id)
    assert(SampleViews.sql(changed.metadata) == "SELECT 2" && changed.metadata.versions.size == 2)
    ours.commitView(id, Some(changed), SampleViews.replace(changed.metadata, "SELECT 3"))
    assert(theirs.loadView(PeerId.of("db", "v")).sqlFor("spark").sql == "SELECT 3")

    theirs.buildView(PeerId.of("db", "w")).withSchema(peerSchema).withQuery("spark", "SELECT 9")
      .withDefaultNamespace(Namespace.of("db")).create()
    assert(ours.listViews(Vector("db")).map(_.name) == Vector("v", "w"))
    assert(theirs.listViews(Namespace.of("db")).asScala.map(_.name).sorted == Seq("v", "w"))
    intercept[AlreadyExists](ours.create(id.copy(name = "w"), unpartitioned()))
    ours.renameView(id.copy(name = "w"), id.copy(name = "u"))
    assert(theirs.viewExists(PeerId.of("db", "u")) && theirs.dropView(PeerId.of("db", "u")))
    assert(ours.dropView(id) && theirs.listViews(Namespace.of("db")).isEmpty)
  }

  onEach("a database that Apache Iceberg created without the column iceberg_type is used and upgraded") { shared =>
    val theirs = shared.theirs()
    theirs.createTable(Theirs, peerSchema)
    val ours = shared.ours()
    append(ours.table(Id), "x")
    ours.create(Id.copy(name = "u"), unpartitioned())
    val upgraded = shared.ours("jdbc.schema-version" -> "V1")
    append(upgraded.table(Id), "y")
    assert(pathsOf(theirs) == Vector("x", "y") && pathsOf(shared.theirs()) == Vector("x", "y"))
    assert(shared.theirs().listTables(Namespace.of("db")).size == 2)
  }

  onEach("concurrent writers of this library and of Apache Iceberg lose no rows") { shared =>
    val first = shared.ours()
    val manyRetries = Map("commit.retry.num-retries" -> "1000", "commit.retry.min-wait-ms" -> "5")
    first.create(Id, TableCreation(schema, properties = manyRetries))
    val (writers, appends) = (3, 8)
    val liteWriters = (1 to writers).map { w => () =>
      val catalog = shared.ours()
      (1 to appends).foldLeft(catalog.table(Id))((table, i) => append(table, s"ours-$w-$i"))
      catalog.table(Id).transaction().add(new UpdateProperties(Map(s"ours-$w" -> "set"))).commit()
      catalog.close()
    }
    val peerWriters = (1 to writers).map { w => () =>
      val catalog = shared.theirs()
      (1 to appends).foreach(i => appendWithPeer(catalog, s"theirs-$w-$i"))
      catalog.loadTable(Theirs).updateProperties().set(s"theirs-$w", "set").commit()
      catalog.close()
    }
    val pool = Executors.newFixedThreadPool(2 * writers)
    try {
      val tasks = (liteWriters ++ peerWriters).map(body => new Callable[Unit] { override def call(): Unit = body() })
      pool.invokeAll(tasks.asJava, 5, TimeUnit.MINUTES).asScala.foreach(_.get)
    } finally pool.shutdownNow()
    val table = first.table(Id)
    val expected = for (who <- Seq("ours", "theirs"); w <- 1 to writers; i <- 1 to appends) yield s"$who-$w-$i"
    assert(liveFiles(table) == expected.sorted.toVector && pathsOf(shared.theirs()) == expected.sorted)
    assert(table.metadata.snapshots.size == expected.size && table.metadata.lastSequenceNumber == expected.size)
    assert(table.currentSnapshot.get.summary("total-records") == (10 * expected.size).toString)
    assert(table.properties.keys.count(_.matches("(ours|theirs)-\\d")) == 2 * writers)
    // Apache Iceberg does not delete the metadata files of failed commits, so only files of iceberg-lite are checked. A
    // key in the summaries of the snapshots shows which metadata files iceberg-lite wrote.
    val unreferenced = (shared.metadataFiles -- reachable(table.io, table.version)).toVector
    val snapshots = unreferenced.flatMap(MetadataFiles.read(table.io, _).snapshots)
    val uncommitted = snapshots.filterNot(s => table.metadata.snapshotsById.contains(s.snapshotId))
    val ofThisLibrary = uncommitted.filter(_.summary.contains(CommitContext.CommitIdKey))
    assert(ofThisLibrary.isEmpty, "a failed commit of this library left a metadata file")
  }
}
