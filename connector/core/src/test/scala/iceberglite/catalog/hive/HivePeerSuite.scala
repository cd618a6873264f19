package iceberglite.catalog.hive

import java.util.concurrent.{Callable, Executors, TimeUnit}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.hive.metastore.api.{Table => HiveTable}
import org.apache.iceberg.catalog.{Namespace, TableIdentifier => PeerId}
import org.apache.iceberg.{PartitionSpec => PeerSpec, Table => PeerTable}
import org.scalatest.tags.Slow

import iceberglite.catalog.CatalogFixture.Id
import iceberglite.catalog.jdbc.SampleViews
import iceberglite.peer.PeerFiles
import iceberglite.spec.IcebergError.{AlreadyExists, NotFound, ValidationFailed}
import iceberglite.table.{Table, TableCreation, TableIdentifier}
import iceberglite.table.TestTables._
import iceberglite.table.action.UpdateProperties

/** Tests that this library and Apache Iceberg's HiveCatalog can use each other's tables. */
@Slow
class HivePeerSuite extends HiveTests {
  private val mapper = new ObjectMapper
  private val peerId = PeerId.of("db", "t")

  private def appendWithPeer(table: PeerTable, path: String): Unit =
    table.newFastAppend().appendFile(PeerFiles.dataFile(file(path), PeerSpec.unpartitioned)).commit()

  /**
   * Returns the parts of a Metastore table that must be equal for this library and Apache Iceberg. Constants replace
   * the times, UUIDs and locations.
   */
  private def comparable(table: HiveTable): (String, String, String, String, Map[String, AnyRef]) = {
    val parameters: Map[String, AnyRef] = table.getParameters.asScala.toMap.map {
      case (key, _) if Set("uuid", "transient_lastDdlTime")(key) || key.endsWith("_location") => key -> "another"
      case (key, json) if json.startsWith("{") => key -> mapper.readTree(json)
      case other => other
    }
    val storage = table.getSd.deepCopy()
    storage.setLocation("another")
    (table.getTableType, table.getOwner, storage.toString, String.valueOf(table.getPartitionKeys), parameters)
  }

  onHive("the Metastore entry of a table equals the entry that Apache Iceberg creates for the same table") { hive =>
    val catalog = hive.open()
    val creation = byCategory("engine.hive.enabled" -> "true", "a" -> "b", "gc.enabled" -> "false")
    val ours = catalog.create(Id, creation)
    val peer = hive.peer().buildTable(PeerId.of("db", "peer"), PeerFiles.schema(ours.schema))
      .withPartitionSpec(PeerFiles.spec(ours.metadata.spec, ours.schema))
      .withProperties(ours.properties.asJava).create()
    assert(comparable(hive.stored()) == comparable(hive.stored("peer")))
    ours.transaction().add(new UpdateProperties(Map("c" -> "d", "engine.hive.enabled" -> "false"), Set("a"))).commit()
    peer.updateProperties().set("c", "d").set("engine.hive.enabled", "false").remove("a").commit()
    assert(comparable(hive.stored()) == comparable(hive.stored("peer")))
    assert(hive.parameters()("previous_metadata_location") == ours.metadataLocation)
  }

  onHive("the keys of the table parameters after an append are the same as in Apache Iceberg") { hive =>
    append(hive.open().create(Id, unpartitioned()), "x")
    val ours = hive.parameters()
    appendWithPeer(hive.peer().loadTable(peerId), "y")
    val theirs = hive.parameters()
    assert(ours.keySet == theirs.keySet)
    assert(ours("numRows") == "10" && theirs("numRows") == "20" && ours("snapshot-count") == "1")
    assert(ours("current-snapshot-summary").contains("\"total-records\":\"10\""))
    assert(!ours("current-snapshot-summary").contains("operation"))
  }

  onHive("parameters above table-property-max-size are omitted; the limit 0 omits all parameters current-*") { hive =>
    val short = hive.open("hadoop.iceberg.hive.table-property-max-size" -> "40")
    append(short.create(Id, unpartitioned()), "x")
    val parameterKeys = hive.parameters().keySet
    assert(parameterKeys("current-snapshot-id") && !parameterKeys("current-schema") && !parameterKeys(
      "current-snapshot-summary"
    ))
    val none = hive.open("hadoop.iceberg.hive.table-property-max-size" -> "0")
    append(none.table(Id), "y")
    assert(hive.parameters().keys.forall(key => !key.startsWith("current-")))
  }

  onHive("this library and Apache Iceberg can write, rename and register each other's tables") { hive =>
    val catalog = hive.open()
    val peer = hive.peer()
    append(catalog.create(Id, unpartitioned()), "ours-1")
    val theirs = peer.loadTable(peerId)
    appendWithPeer(theirs, "theirs-1")
    val afterAppends = append(catalog.table(Id), "ours-2")
    assert(liveFiles(afterAppends) == Vector("ours-1", "ours-2", "theirs-1"))
    theirs.refresh()
    assert(theirs.currentSnapshot.snapshotId == afterAppends.currentSnapshot.get.snapshotId)
    peer.createTable(PeerId.of("db", "u"), PeerFiles.schema(afterAppends.schema))
    assert(catalog.listTables(Vector("db")).map(_.name) == Vector("t", "u"))
    assert(peer.listTables(Namespace.of("db")).asScala.map(_.name).toSet == Set("t", "u"))
    catalog.rename(Id, TableIdentifier(Vector("db"), "v"))
    assert(peer.loadTable(PeerId.of("db", "v")).currentSnapshot.snapshotId == theirs.currentSnapshot.snapshotId)
    peer.renameTable(PeerId.of("db", "v"), peerId)
    assert(catalog.table(Id).metadata == afterAppends.metadata)
    assert(catalog.drop(Id, purge = false) && !peer.tableExists(peerId))
    val registered = peer.registerTable(peerId, afterAppends.metadataLocation)
    assert(registered.currentSnapshot.snapshotId == theirs.currentSnapshot.snapshotId)
  }

  onHive("concurrent writers of this library and of Apache Iceberg lose no rows") { hive =>
    val manyRetries = Map("commit.retry.num-retries" -> "1000", "commit.retry.min-wait-ms" -> "1")
    hive.open().create(Id, TableCreation(schema, properties = manyRetries))
    val appends = 5
    val writers: Seq[Callable[Unit]] = (0 until 4).map { n =>
      val make: Callable[Unit] =
        if (n % 2 == 0) () => {
          (1 to appends).foldLeft(hive.open().table(Id))((table, i) => append(table, s"w$n-$i"))
          ()
        }
        else () => {
          val table = hive.peer().loadTable(peerId)
          (1 to appends).foreach(i => appendWithPeer(table, s"w$n-$i"))
        }
      make
    }
    val pool = Executors.newFixedThreadPool(writers.size)
    try pool.invokeAll(writers.asJava, 5, TimeUnit.MINUTES).asScala.foreach(_.get)
    finally pool.shutdownNow()
    val table: Table = hive.open().table(Id)
    val expected = for (n <- 0 until 4; i <- 1 to appends) yield s"w$n-$i"
    assert(liveFiles(table) == expected.sorted.toVector)
    assert(table.metadata.lastSequenceNumber == 4 * appends)
  }

  onHive("this library and Apache Iceberg see the same namespaces and namespace properties") { hive =>
    val catalog = hive.open()
    val peer = hive.peer()
    catalog.createNamespace(
      Vector("mine"),
      Map("k" -> "v", "comment" -> "about", "owner" -> "me", "location" -> s"${hive.warehouse}/elsewhere")
    )
    val fromPeer = peer.loadNamespaceMetadata(Namespace.of("mine")).asScala
    assert(fromPeer("k") == "v" && fromPeer("comment") == "about" && fromPeer("hive.metastore.database.owner") == "me")
    assert(catalog.loadNamespace(Vector("mine"))("owner") == "me")
    assert(catalog.defaultLocation(TableIdentifier(Vector("mine"), "t")).endsWith("/wh/elsewhere/t"))
    peer.createNamespace(
      Namespace.of("theirs"),
      Map("hive.metastore.database.owner" -> "crowd", "hive.metastore.database.owner-type" -> "GROUP").asJava
    )
    val theirs = catalog.loadNamespace(Vector("theirs"))
    assert(theirs("owner") == "crowd" && theirs("hive.metastore.database.owner-type") == "GROUP")
    assert(theirs("location").endsWith("/wh/theirs.db"))
    catalog.alterNamespace(Vector("theirs"), Map("l" -> "w"), Set("owner"))
    assert(peer.loadNamespaceMetadata(Namespace.of("theirs")).get("l") == "w")
    assert(catalog.loadNamespace(Vector("theirs"))("owner") == System.getProperty("user.name"))
    assert(catalog.listNamespaces(Vector.empty).map(_.head) == Vector("db", "default", "mine", "theirs"))
    assert(catalog.dropNamespace(Vector("theirs")) && !peer.namespaceExists(Namespace.of("theirs")))
  }

  onHive("this library and Apache Iceberg can use each other's views, which cannot have the name of a table") { hive =>
    val catalog = views(hive.open())
    val peer = hive.peer()
    val id = TableIdentifier(Vector("db"), "v")
    val created = catalog.commitView(id, None, SampleViews.create(s"${hive.warehouse}/db.db/v", "SELECT 1"))
    assert(hive.stored("v").getTableType == "VIRTUAL_VIEW" && hive.stored("v").getViewExpandedText == "SELECT 1")
    val theirs = peer.loadView(PeerId.of("db", "v"))
    assert(theirs.sqlFor("spark").sql == "SELECT 1")
    theirs.updateProperties().set("k", "v").commit()
    val changed = catalog.loadView(id)
    assert(changed.metadata.properties("k") == "v" && changed.metadata.uuid == created.metadata.uuid)
    catalog.commitView(id, Some(changed), SampleViews.replace(changed.metadata, "SELECT 2"))
    assert(peer.loadView(PeerId.of("db", "v")).sqlFor("spark").sql == "SELECT 2")
    assert(catalog.listViews(Vector("db")) == Vector(id) && hive.open().listTables(Vector("db")).isEmpty)
    assert(!hive.open().tableExists(id) && !hive.open().drop(id, purge = false))
    intercept[AlreadyExists](hive.open().create(id, unpartitioned()))
    hive.open().create(Id, unpartitioned())
    intercept[AlreadyExists](catalog.commitView(Id, None, SampleViews.create(s"${hive.warehouse}/x", "SELECT 1")))
    intercept[NotFound](catalog.loadView(Id))
    intercept[ValidationFailed](hive.open().dropNamespace(Vector("db")))
    catalog.renameView(id, TableIdentifier(Vector("db"), "w"))
    assert(peer.viewExists(PeerId.of("db", "w")))
    assert(catalog.dropView(TableIdentifier(Vector("db"), "w")) && !peer.viewExists(PeerId.of("db", "w")))
  }
}
