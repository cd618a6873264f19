package iceberglite.spark.catalog

import java.nio.file.Files

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.{Catalog, Catalogs}
import iceberglite.io.HadoopFileIO
import iceberglite.spec.Type.IntType
import iceberglite.spec.{NestedField, Schema}
import iceberglite.table.action.UpdateProperties
import iceberglite.table.{Table, TableCreation, TableIdentifier}

class TableCacheSuite extends AnyFunSuite {
  private val directory = Files.createTempDirectory("table-cache")
  private val catalog: Catalog = Catalogs.open(
    "c",
    Map("type" -> "hadoop", "warehouse" -> directory.toUri.toString),
    new HadoopFileIO(new Configuration)
  )

  private class Fixture(name: String, expirationMs: Long = 30000) {
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

  test("a table is loaded again when it was loaded long ago, however often it is asked for") {
    new Fixture("expires") {
      (0 to 29).foreach { second =>
        nowMs = second * 1000L
        table
      }
      commit(catalog.table(id), "others")
      assert(loads == 1 && !keys("others"))
      nowMs = 30000
      assert(keys("others") && loads == 2)
    }
  }

  test("what is committed through a table that came from the cache shows at once, everywhere") {
    new Fixture("own") {
      val before = live
      commit(table, "mine")
      assert(keys("mine") && before.current.properties.contains("mine") && loads == 1)
    }
  }

  test("an invalidated table is loaded anew, and those who hold it see the new version too") {
    new Fixture("refresh") {
      val held = live
      commit(catalog.table(id), "others")
      assert(!keys("others"))
      cache.invalidate(id.toString)
      assert(keys("others") && held.current.properties.contains("others"))
    }
  }

  test("a table that was dropped and made again is another one for those who hold the old") {
    new Fixture("again") {
      val (held, uuid) = (live, table.metadata.uuid)
      catalog.drop(id, purge = false)
      create()
      cache.remove(id.toString)
      assert(table.metadata.uuid != uuid && held.current.metadata.uuid == uuid)
    }
  }

  test("versions that come late do not hide newer ones") {
    new Fixture("order") {
      val first = table.version
      commit(table, "second")
      live.advance(first)
      assert(keys("second"))
    }
  }

  test("an interval of 0 keeps nothing, a negative one keeps for ever") {
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

  test("the number of tables that are kept is bounded") {
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

  test("a failure to load is not remembered") {
    new Fixture("failure") {
      intercept[IllegalStateException](cache.table(id.toString)(throw new IllegalStateException("down")))
      assert(table.schema.fields.size == 1)
    }
  }
}
