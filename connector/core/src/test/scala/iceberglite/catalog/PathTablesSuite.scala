package iceberglite.catalog

import java.io.IOException

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.CatalogFixture.Id
import iceberglite.spec.IcebergError.{AlreadyExists, NotFound, StorageFailed, UnreadableFile, Unsupported}
import iceberglite.table.TestTables._
import iceberglite.table._
import iceberglite.table.action.{FastAppend, UpdateLocation}

/** Tests tables that are identified by the path of their directory or of a metadata file, without a catalog. */
class PathTablesSuite extends AnyFunSuite {
  private val path = "mem://wh/db/t"

  private def append(table: Table, name: String): Table =
    table.transaction(Map.empty, environment).add(new FastAppend(Vector(file(name)))).commit()

  test("a table can be created, written and loaded by its path") {
    val files = new MemoryFileIO
    val tables = new PathTables(files, environment)
    assert(!tables.exists(path))
    assert(intercept[NotFound](tables.table(path)).getMessage.contains(path))
    val table = append(tables.create(path + "/", unpartitioned()), "x")
    assert(table.location == path && table.name == path)
    assert(liveFiles(new PathTables(files).table(path)) == Vector("x"))
    intercept[AlreadyExists](tables.create(path, unpartitioned()))
    assert(
      tables.exists(path) && tables.drop(path, purge = false) && !tables.drop(path, purge = true) && files.paths.isEmpty
    )
  }

  test("foreign files in a table's directory are kept when the table is dropped") {
    val files = new MemoryFileIO
    val tables = new PathTables(files, environment)
    files.write(s"$path/photo.jpg", Array[Byte](1))
    append(tables.create(path, unpartitioned()), "x")
    assert(tables.drop(path, purge = true) && files.paths == Set(s"$path/photo.jpg"))
    assert(!tables.exists(path))
  }

  test("a drop without PURGE fails and deletes nothing if the storage cannot read the metadata") {
    val files = new MemoryFileIO
    append(new PathTables(files, environment).create(path, unpartitioned("gc.enabled" -> "false")), "x")
    val before = files.paths
    val unavailable = new FileIOWrapper(files) {
      override def read(path: String): Array[Byte] =
        if (path.endsWith(".metadata.json"))
          throw UnreadableFile(path, "file", "The server is overloaded", Some(new IOException("503")))
        else super.read(path)
    }
    val error = intercept[UnreadableFile](new PathTables(unavailable, environment).drop(path, purge = false))
    assert(error.reason == "The server is overloaded" && files.paths == before)
    val withoutAccess = new FileIOWrapper(files) {
      override def exists(path: String): Boolean =
        if (path.endsWith(".metadata.json")) throw StorageFailed.at("look at", path, "Access was denied")
        else super.exists(path)
    }
    intercept[StorageFailed](new PathTables(withoutAccess, environment).drop(path, purge = false))
    assert(files.paths == before)
  }

  test("a table of an unknown format version is not dropped, because its properties are unknown") {
    val files = new MemoryFileIO
    val table = new PathTables(files, environment).create(path, unpartitioned("format-version" -> "2"))
    val text = new String(files.read(table.metadataLocation), "UTF-8")
    val changed = text.replaceFirst("\"format-version\" *: *2", "\"format-version\":99")
    assert(changed != text)
    files.replace(table.metadataLocation, changed.getBytes("UTF-8"))
    val before = files.paths
    intercept[Unsupported](new PathTables(files, environment).drop(path, purge = false))
    assert(files.paths == before)
  }

  test("a path to a file is not a table") {
    val files = new MemoryFileIO
    files.write("mem://wh/db/f.parquet", Array[Byte](1))
    assert(!new PathTables(files, environment).exists("mem://wh/db/f.parquet"))
  }

  test("rows that are appended to a file-system catalog's table by its path are visible in the catalog") {
    CatalogFixture.Hadoop.withStore { store =>
      val catalog = CatalogFixture.Hadoop.open(store, store.files)
      append(catalog.create(Id, unpartitioned()), "x")
      append(new PathTables(store.files).table(path), "y")
      assert(liveFiles(catalog.table(Id)) == Vector("x", "y"))
    }
  }

  test("the path of a JDBC catalog's table opens the table read-only at its highest version") {
    CatalogFixture.Jdbc.withStore { store =>
      val catalog = CatalogFixture.Jdbc.open(store, store.files)
      val last = (1 to 12).foldLeft(catalog.create(Id, unpartitioned()))((t, i) => append(t, f"f$i%02d"))
      val table = new PathTables(store.files).table(path)
      assert(table.metadataLocation == last.metadataLocation)
      val before = store.files.paths
      val error = intercept[Unsupported](append(table, "mine"))
      assert(error.getMessage.contains("belongs to a catalog"))
      assert(store.files.paths == before)
      intercept[AlreadyExists](CatalogFixture.Hadoop.open(store, store.files).create(Id, unpartitioned()))
      intercept[AlreadyExists](new PathTables(store.files).create(path, unpartitioned()))
      assert(store.files.paths == before)
      catalog.close()
    }
  }

  test("the path of a metadata file of a file-system or JDBC catalog opens the table read-only at that version") {
    CatalogFixture.hadoopAndJdbc.foreach { fixture =>
      fixture.withStore { store =>
        val catalog = fixture.open(store, store.files)
        val first = append(catalog.create(Id, unpartitioned()), "x")
        append(first, "y")
        val table = new PathTables(store.files).table(first.metadataLocation)
        assert(liveFiles(table) == Vector("x"))
        assert(intercept[Unsupported](append(table, "z")).getMessage.contains(first.metadataLocation))
        intercept[NotFound](new PathTables(store.files).table(s"$path/metadata/v99.metadata.json"))
        catalog.close()
      }
    }
  }

  test("the location of a table that is opened by path cannot be changed") {
    val tables = new PathTables(new MemoryFileIO, environment)
    val table = tables.create(path, unpartitioned())
    intercept[Unsupported](table.transaction(Map.empty, environment).add(new UpdateLocation("mem://x")).commit())
    intercept[Unsupported](tables.create("mem://wh/u", unpartitioned().copy(location = Some("mem://x"))))
  }

  test("a table can be replaced by its path") {
    val tables = new PathTables(new MemoryFileIO, environment)
    append(tables.create(path, unpartitioned()), "x")
    val staged = tables.stage(path, byCategory(), StageMode.CreateOrReplace)
    assert(staged.commit().spec.isPartitioned)
  }
}
