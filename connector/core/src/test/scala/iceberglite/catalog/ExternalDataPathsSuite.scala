package iceberglite.catalog

import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.FilesBelow
import iceberglite.catalog.jdbc.SampleViews
import iceberglite.table.{Action, _}
import iceberglite.table.TestTables._
import iceberglite.table.action.{UpdateLocation, UpdateProperties}

/**
 * Tests tables whose data is outside of the table location. Purging another table must keep this data, even if the
 * location of the purged table contains it.
 */
class ExternalDataPathsSuite extends AnyFunSuite with HostileTables {

  private def bucket: String = s"file:$directory/bucket/v"

  /** Creates the victim's table, with two data files in the given directory outside the table's location. */
  private def victimWithDataIn(catalog: Catalog, place: String): Table = {
    val table = catalog.create(Victim, unpartitioned("write.data.path" -> place))
    append(append(table, data(place)), data(place, "y.parquet"))
  }

  private def change(table: Table, actions: Action*): Table = {
    val transaction = table.transaction(Map.empty, environment)
    actions.foreach(transaction.add)
    transaction.commit()
  }

  private def registerMetadataOf(catalog: Catalog, id: TableIdentifier, of: Table): Table =
    catalog.register(id, of.metadataLocation)

  private def assertReadable(catalog: Catalog): Unit = {
    val table = catalog.table(Victim)
    assert(liveFiles(table).forall(io.exists))
  }

  /** Purges the attacker's table, and checks that all files of the victim's table still exist. */
  private def checkPurge(catalog: Catalog, id: TableIdentifier): Unit = {
    val victim = catalog.table(Victim)
    val needed = liveFiles(victim) :+ victim.metadataLocation
    assert(catalog.drop(id, purge = true))
    assert(needed.forall(io.exists))
    assertReadable(catalog)
  }

  test("purging a table whose location was set to another table's data path keeps the data") {
    val catalog = jdbc("a")
    val victim = victimWithDataIn(catalog, bucket)
    for (place <- Seq(bucket, s"file:$directory/bucket", s"file:$directory")) {
      val evil = registerMetadataOf(catalog, Evil, victim)
      change(change(evil, new UpdateLocation(place)), new UpdateProperties(Map("a" -> "b"), Set.empty))
      checkPurge(catalog, Evil)
    }
    catalog.close()
  }

  test("purging a table in a namespace whose location contains another table's data path keeps the data") {
    val catalog = jdbc("a")
    val victim = victimWithDataIn(catalog, bucket)
    catalog.createNamespace(Vector("ev"), Map("location" -> s"file:$directory/bucket"))
    val id = TableIdentifier(Vector("ev"), "v")
    registerMetadataOf(catalog, id, victim)
    checkPurge(catalog, id)
    catalog.close()
  }

  test("purging a table at the former location of another table keeps the files of that table") {
    val catalog = jdbc("a")
    val old = append(
      catalog.create(Victim, unpartitioned().copy(location = Some(s"file:$directory/p1/v"))),
      data(s"file:$directory/p1/v/data")
    )
    val moved = change(old, new UpdateLocation(s"file:$directory/p2/v"))
    append(moved, data(s"file:$directory/p2/v/data"))
    registerMetadataOf(catalog, Evil, old)
    checkPurge(catalog, Evil)
    catalog.close()
  }

  test(
    "commits under a renamed table's former name, or in another catalog, keep the table's current metadata"
  ) {
    val catalog = jdbc("a")
    val former = filled(catalog, TableIdentifier(Vector("db"), "former"))
    catalog.rename(former.id, Victim)
    val registeredAgain = registerMetadataOf(catalog, former.id, former)
    (1 to 3).foldLeft(change(registeredAgain, new UpdateProperties(Expiring, Set.empty))) { (table, i) =>
      change(table, new UpdateProperties(Map("a" -> i.toString), Set.empty))
    }
    assert(io.exists(catalog.table(Victim).metadataLocation))
    assertReadable(catalog)
    val other = Catalogs.open(
      "other",
      Map("type" -> "jdbc", "uri" -> s"jdbc:sqlite:$directory/a.sqlite", "warehouse" -> s"file:$warehouse"),
      io
    )
    val copy = registerMetadataOf(other, Victim, catalog.table(Victim))
    (1 to 3).foldLeft(change(copy, new UpdateProperties(Expiring, Set.empty))) { (table, i) =>
      change(table, new UpdateProperties(Map("a" -> i.toString), Set.empty))
    }
    assert(io.exists(catalog.table(Victim).metadataLocation))
    assertReadable(catalog)
    catalog.close()
    other.close()
  }

  test("dropping a file-system table that was created in a directory with other files keeps these files") {
    val catalog = hadoop()
    val data = warehouse.resolve("db/vdata")
    victimWithDataIn(catalog, s"file:$data")
    val id = TableIdentifier(Vector("db"), "vdata")
    for (purge <- Seq(false, true)) {
      catalog.create(id, unpartitioned())
      assert(catalog.drop(id, purge) && !catalog.tableExists(id))
      assertReadable(catalog)
    }
    val parquet = Files.createDirectories(warehouse.resolve("db/pq")).resolve("part-0.parquet")
    Files.write(parquet, Array[Byte](1))
    catalog.create(TableIdentifier(Vector("db"), "pq"), unpartitioned())
    assert(catalog.drop(TableIdentifier(Vector("db"), "pq"), purge = true) && Files.exists(parquet))
  }

  test("dropping a file-system table keeps tables below it, even if their directories are named like partitions") {
    val catalog = hadoop()
    val inner = for {
      names <- Seq(Vector("k=v"), Vector("0110"), Vector("%2e%2e"), Vector("k=v", "x"), Vector("data", "p=1"))
    } yield filled(catalog, TableIdentifier("ns" +: names.init, names.last))
    val outer = filled(catalog, TableIdentifier(Vector.empty, "ns"))
    assert(catalog.drop(outer.id, purge = false) && !catalog.tableExists(outer.id))
    inner.foreach(t => assert(liveFiles(catalog.table(t.id)).size == 2 && liveFiles(t).forall(io.exists), t.id))
    assert(FilesBelow.of(warehouse.resolve("ns")).forall(f => inner.exists(t => s"file:$f".startsWith(t.location))))
  }

  test("files in a table's owned location are kept when another table with the same metadata is purged") {
    val setting = "owned-locations" -> s"file:$directory/own"
    val catalog = hadoop(setting)
    val victim = victimWithDataIn(catalog, s"file:$directory/own/db/victim")
    val path = s"file:$directory/evil/db/victim"
    forged(withNewUuid(victim.metadata), directory.resolve("evil/db/victim/metadata/v1.metadata.json"))
    assert(new PathTables(io).drop(path, purge = true))
    assertReadable(catalog)
    val dotted = TableIdentifier(Vector("a", "b"), "c")
    val place = s"file:$directory/own/a.b/c"
    val nested = append(catalog.create(dotted, unpartitioned("write.data.path" -> place)), data(place))
    forged(withNewUuid(nested.metadata), warehouse.resolve("a.b/c/metadata/v1.metadata.json"))
    assert(catalog.drop(TableIdentifier(Vector("a.b"), "c"), purge = true))
    assert(liveFiles(catalog.table(dotted)).forall(io.exists))
  }

  test("a purge deletes the table's own files even if the catalog has views or concurrent commits to other tables") {
    val catalog = jdbc("a", "jdbc.schema-version" -> "V1")
    val place = s"file:$directory/mine/t"
    val other = filled(catalog, Victim)
    var moved = false
    val racing = new FileIOWrapper(io) {
      override def read(path: String): Array[Byte] = {
        if (path == other.metadataLocation && !moved) {
          moved = true
          append(catalog.table(Victim), "later")
          io.delete(path)
        }
        super.read(path)
      }
    }
    val settings = Map(
      "type" -> "jdbc",
      "uri" -> s"jdbc:sqlite:$directory/a.sqlite",
      "warehouse" -> s"file:$warehouse",
      "jdbc.schema-version" -> "V1"
    )
    val same = Catalogs.open("lite", settings, racing)
    same match {
      case views: ViewCatalog => views.commitView(
          TableIdentifier(Vector("db"), "view"),
          None,
          SampleViews.create(s"file:$directory/view", "SELECT 1")
        )
      case _ => fail("The catalog does not support views")
    }
    val table = append(same.create(Evil, unpartitioned().copy(location = Some(place))), data(s"$place/data"))
    assert(same.drop(Evil, purge = true) && moved)
    assert(!io.exists(table.metadataLocation) && !io.exists(s"$place/data/x.parquet"))
    same.close()
    catalog.close()
  }

  test("a purge keeps another table's data files in the metadata directory of the purged table") {
    val catalog = hadoop()
    val evil = catalog.create(Evil, unpartitioned())
    victimWithDataIn(catalog, s"${evil.location}/metadata")
    assert(catalog.drop(Evil, purge = true) && !catalog.tableExists(Evil))
    assertReadable(catalog)
  }

  test("a purge skips a path with a control character, and still deletes the table's metadata file") {
    val catalog = jdbc("a")
    val table = append(filled(catalog, Evil), s"file:$warehouse/db/evil/..\u0000/x.parquet")
    assert(catalog.drop(Evil, purge = true))
    assert(!io.exists(table.metadataLocation))
    catalog.close()
  }
}
