package iceberglite.spark.session

import java.nio.file.Files
import java.util.concurrent.atomic.AtomicInteger

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.{Catalog, Catalogs, FileIOWrapper}
import iceberglite.spec.TestMetadata.Edits
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.IntType
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate.SetProperties
import iceberglite.storage.HadoopFileIO
import iceberglite.table.{Table, TableCreation, TableIdentifier}
import iceberglite.table.action.UpdateProperties

/** Checks which metadata the cache of tables returns after commits, drops and expiration. */
class TableCacheSuite extends AnyFunSuite {
  private val directory = Files.createTempDirectory("table-cache")
  private val catalog: Catalog = Catalogs.open(
    "c",
    Map("type" -> "hadoop", "warehouse" -> directory.toUri.toString),
    new HadoopFileIO(new Configuration)
  )

  private class Fixture(name: String, expirationMs: Long = 30000, catalog: Catalog = catalog) {
    val id: TableIdentifier = TableIdentifier(Vector("db"), name)
    var nowMs = 0L
    var loads = 0
    val cache = new TableCache(expirationMs, () => nowMs, capacity = 3)
    create()

    def create(): Table = catalog.create(id, TableCreation(Schema(0, Vector(NestedField.optional(1, "id", IntType)))))
    def table: Table = live.current
    def live = cache.table(id.toString) {
      loads += 1
      catalog.table(id)
    }
    def commit(table: Table, key: String): Unit =
      table.transaction().add(new UpdateProperties(Map(key -> "1"))).commit()
    def keys: Set[String] = table.properties.keySet
  }

  test("a table that is used constantly shows commits by other writers within the expiration interval") {
    new Fixture("expires") {
      (0 to 29).foreach { second =>
        nowMs = second * 1000L
        table
      }
      commit(catalog.table(id), "others")
      assert(!keys("others"))
      nowMs = 30000
      assert(keys("others") && loads == 1)
    }
  }

  test("a table that is used constantly never shows metadata older than the interval") {
    new Fixture("bound") {
      var committedMs = Vector.empty[(Long, String)]
      (1 to 400).foreach { step =>
        nowMs = step * 1000L
        if (step % 7 == 0) {
          commit(catalog.table(id), s"k$step")
          committedMs :+= nowMs -> s"k$step"
        }
        val properties = keys
        committedMs.foreach { case (commitMs, key) => assert(nowMs - commitMs < 30000 || properties(key)) }
      }
    }
  }

  test("in a catalog with metadata pointers, metadata is not read again while the pointer is unchanged") {
    val reads = new AtomicInteger
    val io = new HadoopFileIO(new Configuration)
    val counting = new FileIOWrapper(io) {
      override def read(path: String): Array[Byte] = {
        reads.incrementAndGet()
        super.read(path)
      }
    }
    val database = Map("type" -> "jdbc", "uri" -> s"jdbc:sqlite:$directory/tables.db")
    val jdbc = Catalogs.open("c", database + ("warehouse" -> directory.toUri.toString), counting)
    new Fixture("pointer", catalog = jdbc) {
      table
      val readsBefore = reads.get
      (1 to 10).foreach { i =>
        nowMs = i * 60000L
        table
      }
      assert(reads.get == readsBefore)
      commit(jdbc.table(id), "others")
      nowMs += 60000
      assert(keys("others") && reads.get > readsBefore)
    }
    jdbc.close()
  }

  test("a commit to a table under one name is visible under all its other names, including names in other catalogs") {
    new Fixture("names") {
      val (pathCache, otherCatalogCache) = (new TableCache(-1), new TableCache(-1))
      def otherNames = Seq(pathCache, otherCatalogCache)
        .map(_.table("another name")(catalog.table(id)).current.properties.keySet)
      otherNames
      commit(table, "mine")
      assert(otherNames.forall(_("mine")))
      commit(pathCache.table("another name")(fail("the table is already cached")).current, "theirs")
      assert(keys("theirs") && otherNames.forall(_("theirs")))
    }
  }

  test("if a commit is made while a table is being loaded, the cache has the committed metadata") {
    new Fixture("meanwhile", expirationMs = -1) {
      val own = new SharedTable(catalog.table(id))
      cache.table("late") {
        val loaded = catalog.table(id)
        commit(own.current, "meanwhile")
        loaded
      }
      assert(cache.table("late")(fail("the table is already cached")).current.properties.contains("meanwhile"))
    }
  }

  test("a commit through a cached table is immediately visible through all references to the table") {
    new Fixture("own") {
      val reference = live
      commit(table, "mine")
      assert(keys("mine") && reference.current.properties.contains("mine") && loads == 1)
    }
  }

  test("an invalidated table is loaded again, and existing references have the new metadata") {
    new Fixture("refresh") {
      val reference = live
      commit(catalog.table(id), "others")
      assert(!keys("others"))
      cache.invalidate(id.toString)
      assert(keys("others") && reference.current.properties.contains("others"))
    }
  }

  test("references to a dropped table keep its metadata if a new table with the same name is created") {
    new Fixture("again") {
      val (reference, uuid) = (live, table.metadata.uuid)
      catalog.drop(id, purge = false)
      create()
      cache.remove(id.toString)
      assert(table.metadata.uuid != uuid && reference.current.metadata.uuid == uuid)
    }
  }

  test("after another writer recreates a table, the new table is loaded within the interval") {
    new Fixture("replaced") {
      val uuid = table.metadata.uuid
      catalog.drop(id, purge = false)
      create()
      nowMs = 30000
      assert(table.metadata.uuid != uuid && loads == 2)
      catalog.drop(id, purge = false)
      nowMs = 60000
      intercept[NotFound](table)
    }
  }

  test("an older version of the metadata does not replace a newer version in the cache") {
    new Fixture("order") {
      val first = table.version
      commit(table, "second")
      live.advance(first)
      assert(keys("second"))
    }
  }

  test("a version whose metadata file has the name of the known version, but another time, replaces it") {
    new Fixture("renumbered") {
      val (known, shared) = (table.version, live)
      val change = Vector(SetProperties(Map("other" -> "1")))
      val metadata = MetadataUpdate.applyAll(known.metadata, change, known.metadata.lastUpdatedMs + 1)
      shared.advance(known.copy(metadata = metadata))
      assert(shared.lastKnown.properties.contains("other"))
    }
  }

  test("a version with the name and the time of the known version, but another sequence number, replaces it") {
    new Fixture("renumbered_again") {
      val (known, shared) = (table.version, live)
      val number = known.metadata.lastSequenceNumber + 1
      shared.advance(known.copy(metadata = known.metadata.edited(lastSequenceNumber = number)))
      assert(shared.lastKnown.metadata.lastSequenceNumber == number)
    }
  }

  test("with an expiration interval of 0 nothing is cached, and with a negative interval entries never expire") {
    new Fixture("none", expirationMs = 0) {
      table
      table
      assert(loads == 2)
    }
    new Fixture("forever", expirationMs = -1) {
      table
      nowMs = Long.MaxValue
      table
      assert(loads == 1)
    }
  }

  test("with an interval of 0, references see commits by this JVM at once, and commits by other JVMs after a refresh") {
    val f = new Fixture("unkept", expirationMs = 0)
    val (reference, other) = (f.live, f.live)
    f.commit(other.current, "ours")
    assert(reference.current.properties.contains("ours"))
    f.commit(catalog.table(f.id), "theirs")
    assert(!reference.current.properties.contains("theirs"))
    f.cache.invalidate(f.id.toString)
    assert(reference.current.properties.contains("theirs"))
  }

  test("the number of cached tables is limited") {
    new Fixture("bounded") {
      table
      (1 to 3).foreach { i =>
        nowMs += 1
        cache.table(s"other$i")(catalog.table(id))
      }
      table
      assert(loads == 2)
    }
  }

  test("a failed load is not cached") {
    new Fixture("failure") {
      intercept[IllegalStateException](cache.table(id.toString)(throw new IllegalStateException("down")))
      assert(table.schema.fields.size == 1)
    }
  }
}
