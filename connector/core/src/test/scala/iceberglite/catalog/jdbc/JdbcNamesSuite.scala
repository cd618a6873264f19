package iceberglite.catalog.jdbc

import iceberglite.catalog.CatalogFixture.Id
import iceberglite.catalog.ViewCatalog
import iceberglite.spec.IcebergError._
import iceberglite.table.TableIdentifier
import iceberglite.table.TestTables._

/** Tests that names with characters that are special in SQL are passed to the database literally. */
class JdbcNamesSuite extends JdbcTests {
  private val hostile: Seq[String] = Seq(
    "it's",
    "'; DROP TABLE iceberg_tables; --",
    "\") OR 1=1 --",
    "a\\' OR ''='",
    "100%",
    "a_b",
    "?",
    "{d '2024-01-01'}",
    "${x}",
    "grüße 🧊 日本",
    " spaces ",
    "new\nline",
    "NULL",
    "x" * 255,
    "🧊" * 255
  )

  onEach("names that contain SQL syntax or special characters are stored literally") { f =>
    val catalog = f.open()
    catalog.createNamespace(Vector("axb"), Map("kept" -> "yes"))
    hostile.foreach { name =>
      val namespace = Vector(name)
      catalog.createNamespace(namespace, Map("k'; --" -> "v'; DROP TABLE iceberg_tables"))
      assert(catalog.loadNamespace(namespace)("k'; --") == "v'; DROP TABLE iceberg_tables")
      catalog.alterNamespace(namespace, Map("%" -> name.take(50)), Set("k'; --"))
      val id = TableIdentifier(namespace, name)
      append(catalog.create(id, unpartitioned()), "x")
      assert(catalog.listTables(namespace) == Vector(id) && liveFiles(catalog.table(id)) == Vector("x"))
      val renamed = id.copy(name = "moved")
      catalog.rename(id, renamed)
      assert(catalog.drop(renamed, purge = true) && catalog.dropNamespace(namespace), name)
    }
    assert(catalog.listNamespaces(Vector.empty) == Vector(Vector("axb")))
    assert(catalog.loadNamespace(Vector("axb"))("kept") == "yes")
  }

  onEach("LIKE wildcards in names are not interpreted as patterns") { f =>
    val catalog = f.open()
    catalog.createNamespace(Vector("a_b"), Map.empty)
    assert(!catalog.namespaceExists(Vector("axb")) && !catalog.namespaceExists(Vector("a%")))
    assert(!catalog.namespaceExists(Vector("A_B")) && !catalog.namespaceExists(Vector("a_")))
    assert(!catalog.namespaceExists(Vector("%")) && !catalog.dropNamespace(Vector("%")))
    intercept[NotFound](catalog.alterNamespace(Vector("a%"), Map("a" -> "b"), Set.empty))
  }

  onEach("empty, too long and unsafe names are rejected before anything is written") { f =>
    val catalog = f.open()
    catalog.createNamespace(Vector("db"), Map.empty)
    val long = "x" * 256
    val invalidNames = Seq(long, "", "a\u0000b", "..", "a/../../b")
    invalidNames.foreach(name => intercept[InvalidArgument](catalog.create(Id.copy(name = name), unpartitioned())))
    val views = catalog match { case v: ViewCatalog => v }
    Seq(long, "", "a\u0000b").foreach { name =>
      val change = SampleViews.create("mem://wh/db/v", "SELECT 1")
      intercept[InvalidArgument](views.commitView(Id.copy(name = name), None, change))
    }
    Seq("a.b", "", long, "a\u0000b").foreach { level =>
      intercept[InvalidArgument](catalog.createNamespace(Vector(level), Map.empty))
    }
    intercept[InvalidArgument](catalog.createNamespace(Vector("x" * 200, "y" * 200), Map.empty))
    assert(f.files.paths.isEmpty)
    val table = append(catalog.create(Id, unpartitioned()), "x")
    intercept[InvalidArgument](catalog.rename(Id, Id.copy(name = long)))
    intercept[InvalidArgument](catalog.register(Id.copy(name = long), table.metadataLocation))
    assert(!catalog.tableExists(Id.copy(name = long)) && !catalog.namespaceExists(Vector(long)))
    val error = intercept[InvalidArgument](catalog.create(Id.copy(name = long), unpartitioned()))
    assert(error.getMessage.contains("It has 256 characters; the database supports at most 255"))
  }

  onEach("a location or namespace property that is too long is rejected", Seq(TestDatabase.Postgres)) { f =>
    val catalog = f.open()
    val withLongLocation = unpartitioned().copy(location = Some(s"mem://wh/${"d" * 1000}"))
    val error = intercept[InvalidArgument](catalog.create(Id, withLongLocation))
    assert(error.getMessage.contains("Choose another location"))
    assert(f.files.paths.isEmpty && !catalog.tableExists(Id))
    val failed = intercept[StorageFailed](catalog.createNamespace(Vector("db"), Map("comment" -> "c" * 1001)))
    assert(failed.getMessage.contains("value too long"))
    assert(!catalog.namespaceExists(Vector("db")))
  }
}
