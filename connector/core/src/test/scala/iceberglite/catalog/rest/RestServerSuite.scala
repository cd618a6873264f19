package iceberglite.catalog.rest

import java.util.concurrent.{Callable, Executors, TimeUnit}

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.iceberg.catalog.{Namespace, TableIdentifier => PeerName}
import org.apache.iceberg.rest.RESTCatalog
import org.apache.iceberg.types.Types
import org.apache.iceberg.{DataFiles, PartitionSpec => PeerSpec, Schema => PeerSchema, Table => PeerTable}
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.catalog.Catalogs
import iceberglite.servers.Servers
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError._
import iceberglite.spec.types.Type.LongType
import iceberglite.spec.update.{SchemaChanges, ViewUpdate}
import iceberglite.spec.update.MetadataUpdate._
import iceberglite.spec.update.Requirement.AssertTableUuid
import iceberglite.spec.update.ViewRequirement.AssertViewUuid
import iceberglite.spec.update.ViewUpdate._
import iceberglite.spec.view.{ViewRepresentation, ViewVersion}
import iceberglite.storage.HadoopFileIO
import iceberglite.table._
import iceberglite.table.TestTables._
import iceberglite.table.action.{FastAppend, UpdateSchema}

/** Tests the REST catalog on a real server, which the REST client of Apache Iceberg uses at the same time. */
class RestServerSuite extends AnyFunSuite with BeforeAndAfterAll {
  private val peer = new RESTCatalog
  private var namespaceCount = 0

  override def beforeAll(): Unit = {
    peer.setConf(new Configuration)
    val hadoop = "org.apache.iceberg.hadoop.HadoopFileIO"
    peer.initialize("peer", Map("uri" -> Servers.rest.uri, "io-impl" -> hadoop).asJava)
  }

  override def afterAll(): Unit = peer.close()

  private def catalog(properties: (String, String)*): RestCatalog = {
    val all = Map("type" -> "rest", "uri" -> Servers.rest.uri) ++ properties
    Catalogs.open("lite", all, new HadoopFileIO(new Configuration)) match {
      case rest: RestCatalog => rest
      case other => fail(other.toString)
    }
  }

  /** Runs `body` with a namespace that no other test uses. */
  private def inNamespace(body: Vector[String] => Unit): Unit = {
    namespaceCount += 1
    val namespace = Vector(s"rest server $namespaceCount")
    catalog().createNamespace(namespace, Map.empty)
    body(namespace)
  }

  private def peerName(id: TableIdentifier): PeerName =
    PeerName.of(Namespace.of(id.namespace: _*), id.name)

  private def append(table: Table, path: String): Table =
    table.transaction().add(new FastAppend(Vector(file(path)))).commit()

  private def appendByPeer(table: PeerTable, path: String): Unit = {
    val file = DataFiles.builder(table.spec).withPath(path).withFileSizeInBytes(1000).withRecordCount(10)
      .withFormat("parquet").build()
    table.newAppend().appendFile(file).commit()
  }

  private def filesOfPeer(table: PeerTable): Vector[String] = {
    table.refresh()
    val tasks = table.newScan().planFiles()
    try tasks.asScala.map(_.file.location).toVector.sorted
    finally tasks.close()
  }

  test("this client and Apache Iceberg's client append to one table, and see each other's tables and files") {
    inNamespace { namespace =>
      val ours = catalog()
      val (mine, theirs) = (TableIdentifier(namespace, "mine"), TableIdentifier(namespace, "theirs"))
      append(ours.create(mine, unpartitioned("a" -> "b", "format-version" -> "3")), "x")
      val schema = new PeerSchema(
        Types.NestedField.required(1, "id", Types.LongType.get),
        Types.NestedField.optional(2, "category", Types.StringType.get)
      )
      peer.createTable(peerName(theirs), schema, PeerSpec.builderFor(schema).bucket("id", 4).build())
      assert(ours.listTables(namespace) == Vector(mine, theirs))
      assert(peer.listTables(Namespace.of(namespace: _*)).asScala.map(_.name).toSet == Set("mine", "theirs"))
      assert(ours.table(theirs).spec.fields.map(_.transform.name) == Vector("bucket[4]"))
      val table = peer.loadTable(peerName(mine))
      assert(table.properties.get("a") == "b" && filesOfPeer(table) == Vector("x"))
      appendByPeer(table, "y")
      append(ours.table(mine), "z")
      assert(liveFiles(ours.table(mine)) == Vector("x", "y", "z") && filesOfPeer(table) == Vector("x", "y", "z"))
      assert(ours.table(mine).metadata.formatVersion == FormatVersion.V3)
      assert(ours.drop(theirs, purge = true) && !peer.tableExists(peerName(theirs)))
    }
  }

  test("each acknowledged append of concurrent writers of both clients exists exactly once", Slow) {
    inNamespace { namespace =>
      val id = TableIdentifier(namespace, "mixed")
      val manyRetries = Seq("num-retries" -> "100", "min-wait-ms" -> "5", "max-wait-ms" -> "50")
        .map { case (key, value) => s"commit.retry.$key" -> value }
      catalog().create(id, unpartitioned(manyRetries: _*))
      val writers = (0 until 4).map { writer =>
        new Callable[Unit] {
          override def call(): Unit = (0 until 4).foreach { n =>
            val name = s"$writer-$n"
            if (writer % 2 == 0) append(catalog().table(id), name) else appendByPeer(peer.loadTable(peerName(id)), name)
          }
        }
      }
      val threads = Executors.newFixedThreadPool(writers.size)
      try threads.invokeAll(writers.asJava, 60, TimeUnit.SECONDS).asScala.foreach(_.get())
      finally threads.shutdownNow()
      val expected = (for (writer <- 0 until 4; n <- 0 until 4) yield s"$writer-$n").toVector.sorted
      val table = catalog().table(id)
      assert(liveFiles(table) == expected && filesOfPeer(peer.loadTable(peerName(id))) == expected)
      assert(table.metadata.snapshots.size == expected.size, "no append must be applied twice")
      assert(table.metadata.lastSequenceNumber == expected.size)
      val manifests = table.io.list(s"${table.location}/metadata").map(_.path).filter(_.endsWith(".avro"))
      assert(manifests.map(path).toSet == reachable(table.io, table.version).filter(_.endsWith(".avro")).map(path))
    }
  }

  private def path(uri: String): String = uri.replaceFirst("^file:/+", "/")

  test("an earlier schema of the table is reused when a column is dropped or the table is replaced") {
    inNamespace { namespace =>
      val ours = catalog()
      val id = TableIdentifier(namespace, "t")
      val original = ours.create(id, byCategory())
      def evolve(change: SchemaChanges => SchemaChanges) =
        ours.table(id).transaction().add(new UpdateSchema(change)).commit()
      val wide = evolve(_.addColumn(Vector.empty, "extra", LongType, None))
      val narrow = evolve(_.dropColumn(Vector("extra")))
      assert(wide.schema.fields.size == 3 && narrow.schema == original.schema && narrow.metadata.schemas.size == 2)
      ours.stage(id, byCategory(), StageMode.Replace).commit()
      assert(peer.loadTable(peerName(id)).schema.columns.size == 2)
    }
  }

  test("both clients see the same namespaces and namespace properties, including nested namespaces") {
    inNamespace { namespace =>
      val ours = catalog()
      val inner = namespace :+ "inner ä"
      ours.createNamespace(inner, Map("a" -> "1", "b" -> "2"))
      ours.alterNamespace(inner, Map("a" -> "3"), Set("b"))
      val fromPeer = peer.loadNamespaceMetadata(Namespace.of(inner: _*)).asScala
      assert(fromPeer("a") == "3" && !fromPeer.contains("b"))
      peer.setProperties(Namespace.of(inner: _*), Map("c" -> "4").asJava)
      assert(ours.loadNamespace(inner)("c") == "4" && ours.listNamespaces(namespace) == Vector(inner))
      intercept[AlreadyExists](ours.createNamespace(inner, Map.empty))
      intercept[ValidationFailed](ours.dropNamespace(namespace))
      assert(ours.dropNamespace(inner) && !ours.dropNamespace(inner) && !ours.namespaceExists(inner))
      intercept[NotFound](ours.loadNamespace(inner))
      intercept[NotFound](ours.listTables(inner))
    }
  }

  test("tables can be renamed and registered, and existing or missing names are errors") {
    inNamespace { namespace =>
      val ours = catalog()
      val (a, b) = (TableIdentifier(namespace, "a"), TableIdentifier(namespace, "b"))
      val table = append(ours.create(a, unpartitioned()), "x")
      ours.create(b, unpartitioned())
      intercept[AlreadyExists](ours.create(a, unpartitioned()))
      intercept[AlreadyExists](ours.rename(a, b))
      intercept[NotFound](ours.rename(TableIdentifier(namespace, "none"), TableIdentifier(namespace, "new")))
      intercept[NotFound](ours.rename(a, TableIdentifier(Vector("no such"), "a")))
      intercept[NotFound](ours.create(TableIdentifier(Vector("no such"), "a"), unpartitioned()))
      ours.drop(b, purge = false)
      ours.rename(a, b)
      assert(!ours.tableExists(a) && ours.tableExists(b))
      ours.drop(b, purge = false)
      assert(liveFiles(ours.register(a, table.metadataLocation)) == Vector("x"))
      intercept[AlreadyExists](ours.register(a, table.metadataLocation))
      intercept[NotFound](ours.table(b))
    }
  }

  test("with snapshot-loading-mode refs, older snapshots are loaded by a refresh or a commit") {
    inNamespace { namespace =>
      val id = TableIdentifier(namespace, "t")
      val table = Seq("a", "b", "c").foldLeft(catalog().create(id, unpartitioned()))(append)
      val withRefsOnly = catalog("snapshot-loading-mode" -> "REFS").table(id)
      assert(withRefsOnly.metadata.snapshots.map(_.snapshotId) == table.metadata.currentSnapshotId.toVector)
      assert(!withRefsOnly.version.hasAllSnapshots && withRefsOnly.metadata.snapshotLog.size == 3)
      assert(withRefsOnly.refresh().metadata.snapshots.size == 3)
      val more = append(withRefsOnly, "d")
      assert(liveFiles(more) == Vector("a", "b", "c", "d") && more.metadata.snapshots.size == 4)
    }
  }

  test("a commit of several tables changes all of them or none") {
    inNamespace { namespace =>
      val ours = catalog()
      val tables = Vector("a", "b").map(name => ours.create(TableIdentifier(namespace, name), unpartitioned()))
      def change(table: Table, value: String, uuid: java.util.UUID) =
        TableChange(
          table.id,
          table.version,
          Change(Vector(SetProperties(Map("k" -> value))), Vector(AssertTableUuid(uuid)))
        )
      ours.commitAll(tables.map(t => change(t, "1", t.metadata.uuid.get)))
      assert(tables.map(t => ours.table(t.id).properties.get("k")) == Vector(Some("1"), Some("1")))
      val wrong = Vector(tables.head.metadata.uuid.get, new java.util.UUID(1, 2))
      intercept[CommitConflict](ours.commitAll(tables.zip(wrong).map { case (t, uuid) => change(t, "2", uuid) }))
      assert(tables.map(t => ours.table(t.id).properties.get("k")) == Vector(Some("1"), Some("1")))
    }
  }

  private def version(id: Int, sql: String): ViewVersion = ViewVersion(
    id,
    0,
    1700000000000L + id,
    Map("engine-name" -> "test"),
    Vector(ViewRepresentation.Sql(sql, "spark")),
    None,
    Vector("default")
  )

  test("both clients can replace a view, and this client can also create, rename and drop views") {
    inNamespace { namespace =>
      val ours = catalog()
      val id = TableIdentifier(namespace, "v")
      val creation = Vector[ViewUpdate](
        AddSchema(schema, schema.highestFieldId),
        AddViewVersion(version(1, "SELECT 1")),
        SetCurrentViewVersion(1),
        SetProperties(Map("a" -> "b"))
      )
      val original = ours.commitView(id, None, ViewChange(creation, Vector.empty))
      assert(original.metadata.properties("a") == "b" && original.metadata.uuid.isDefined)
      intercept[AlreadyExists](ours.commitView(id, None, ViewChange(creation, Vector.empty)))
      val fromPeer = peer.loadView(peerName(id))
      assert(fromPeer.sqlFor("spark").sql == "SELECT 1" && fromPeer.schema.columns.size == 2)
      peer.buildView(peerName(id)).withSchema(fromPeer.schema).withDefaultNamespace(Namespace.of("default"))
        .withQuery("spark", "SELECT 2").replace()
      val replaced = ours.loadView(id)
      assert(replaced.metadata.currentVersion.sql("spark").contains("SELECT 2"))
      val next = replaced.metadata.versions.map(_.versionId).max + 1
      val schemaId = replaced.metadata.currentVersion.schemaId
      val third =
        Vector(AddViewVersion(version(next, "SELECT 3").copy(schemaId = schemaId)), SetCurrentViewVersion(next))
      ours.commitView(id, Some(replaced), ViewChange(third, Vector(AssertViewUuid(replaced.metadata.uuid.get))))
      assert(peer.loadView(peerName(id)).sqlFor("spark").sql == "SELECT 3")
      val newName = id.copy(name = "w")
      ours.renameView(id, newName)
      assert(ours.listViews(namespace) == Vector(newName) && !ours.viewExists(id) && ours.viewExists(newName))
      intercept[NotFound](ours.renameView(id, newName))
      intercept[NotFound](ours.loadView(id))
      intercept[NotFound](ours.table(newName))
      assert(ours.dropView(newName) && !ours.dropView(newName))
    }
  }
}
