package iceberglite.catalog.jdbc

import java.util.concurrent.{Callable, Executors, TimeUnit}

import scala.collection.JavaConverters._

import iceberglite.catalog.CatalogFixture.Id
import iceberglite.catalog.FaultyDriver
import iceberglite.spec.IcebergError._
import iceberglite.table.TestTables._
import iceberglite.table._

/** Tests the operations of a JDBC catalog, and the rows that it writes to its database for other clients to read. */
class JdbcCatalogSuite extends JdbcTests {

  private def inParallel(bodies: Seq[() => Any]): Unit = {
    val pool = Executors.newFixedThreadPool(bodies.size)
    try {
      val tasks = bodies.map(body => new Callable[Any] { override def call(): Any = body() })
      pool.invokeAll(tasks.asJava, 1, TimeUnit.MINUTES).asScala.foreach(_.get)
    } finally pool.shutdownNow()
  }

  onEach("a table is stored as a row with the columns that other clients expect") { f =>
    val catalog = f.open()
    val first = catalog.create(Id, unpartitioned())
    assert(first.metadataLocation.matches("mem://wh/db/t/metadata/00000-[0-9a-f-]{36}\\.metadata\\.json"))
    val second = append(first, "x")
    assert(second.metadataLocation.contains("/00001-"))
    assert(f.rows("SELECT * FROM iceberg_tables") ==
      Vector(Vector("lite", "db", "t", second.metadataLocation, first.metadataLocation, "TABLE")))
    assert(f.columns("iceberg_tables") == Vector(
      "catalog_name",
      "table_namespace",
      "table_name",
      "metadata_location",
      "previous_metadata_location",
      "iceberg_type"
    ))
    val namespaceColumns = f.columns("iceberg_namespace_properties")
    assert(namespaceColumns == Vector("catalog_name", "namespace", "property_key", "property_value"))
  }

  onEach("the column iceberg_type is added to an existing table only if jdbc.schema-version is V1") { f =>
    f.makeOldTables()
    val old = f.open()
    append(old.create(Id, unpartitioned()), "x")
    assert(old.listTables(Vector("db")) == Vector(Id) && liveFiles(old.table(Id)) == Vector("x"))
    assert(f.rows("SELECT * FROM iceberg_tables").head.size == 5)
    val upgraded = f.open("jdbc.schema-version" -> "V1")
    append(upgraded.table(Id), "y")
    upgraded.create(Id.copy(name = "u"), unpartitioned())
    val types = f.rows("SELECT iceberg_type FROM iceberg_tables ORDER BY table_name")
    assert(types == Vector(Vector("null"), Vector("TABLE")))
    assert(liveFiles(old.table(Id)) == Vector("x", "y"))
  }

  onEach("with jdbc.schema-version=V0 the catalog tables have no column iceberg_type") { f =>
    val catalog = f.open("jdbc.schema-version" -> "v0")
    append(catalog.create(Id, unpartitioned()), "x")
    assert(f.columns("iceberg_tables").size == 5 && liveFiles(f.open().table(Id)) == Vector("x"))
    val error = intercept[InvalidArgument](f.open("jdbc.schema-version" -> "V2"))
    assert(error.getMessage.contains("jdbc.schema-version of catalog lite: V2. It must be V0 or V1"))
  }

  onEach("catalogs that concurrently create or upgrade the catalog tables all succeed") { f =>
    Seq("V0", "V1").foreach { version =>
      val catalogs = Seq.fill(6)(f.open("jdbc.schema-version" -> version))
      inParallel(catalogs.zipWithIndex.map { case (c, i) =>
        () => c.create(Id.copy(name = s"t${version}_$i"), unpartitioned())
      })
      catalogs.foreach(_.close())
    }
    assert(f.columns("iceberg_tables").last == "iceberg_type")
    assert(f.open().listTables(Vector("db")).size == 12)
  }

  onEach("catalog tables are not created if jdbc.init-catalog-tables is false") { f =>
    val error = intercept[NotFound](f.open("jdbc.init-catalog-tables" -> "false").listNamespaces(Vector.empty))
    assert(error.getMessage.contains("because jdbc.init-catalog-tables is false. Create the table"))
    f.open().createNamespace(Vector("db"), Map.empty)
    assert(f.open("jdbc.init-catalog-tables" -> "false").namespaceExists(Vector("db")))
  }

  onEach("views, and tables of other catalogs in the same database, are not listed as tables") { f =>
    val catalog = f.open()
    catalog.create(Id, unpartitioned())
    f.sql(
      "INSERT INTO iceberg_tables VALUES ('lite', 'db', 'v', 'mem://v', NULL, 'VIEW')",
      "INSERT INTO iceberg_tables VALUES ('other', 'db', 'o', 'mem://o', NULL, 'TABLE')",
      "INSERT INTO iceberg_tables VALUES ('lite', 'db', 'untyped', 'mem://u', NULL, NULL)"
    )
    assert(catalog.listTables(Vector("db")).map(_.name) == Vector("t", "untyped"))
    assert(!catalog.tableExists(Id.copy(name = "v")) && !catalog.drop(Id.copy(name = "v"), purge = false))
    assert(!catalog.tableExists(Id.copy(name = "o")))
  }

  onEach("namespaces have properties, and a marker property makes an empty namespace exist") { f =>
    val catalog = f.open()
    catalog.createNamespace(Vector("db"), Map.empty)
    assert(f.rows("SELECT * FROM iceberg_namespace_properties") == Vector(Vector("lite", "db", "exists", "true")))
    catalog.alterNamespace(Vector("db"), Map("comment" -> "it's", "a" -> "1"), Set.empty)
    catalog.alterNamespace(Vector("db"), Map("a" -> "2"), Set("comment"))
    assert(catalog.loadNamespace(Vector("db")) == Map("a" -> "2", "location" -> "mem://wh/db"))
    catalog.createNamespace(Vector("elsewhere"), Map("location" -> "mem://other/"))
    assert(catalog.create(TableIdentifier(Vector("elsewhere"), "t"), unpartitioned()).location == "mem://other/t")
    intercept[NotFound](catalog.alterNamespace(Vector("nope"), Map("a" -> "b"), Set.empty))
  }

  onEach("if two writers create a namespace concurrently, one fails because the namespace exists") { f =>
    val (one, two) = (f.open(), f.open())
    FaultyDriver.before("INSERT INTO iceberg_namespace_properties") {
      two.createNamespace(Vector("db"), Map("who" -> "two"))
    }
    intercept[AlreadyExists](one.createNamespace(Vector("db"), Map("who" -> "one")))
    assert(one.loadNamespace(Vector("db"))("who") == "two")
  }

  onEach("the marker of a namespace is not shown as a property") { f =>
    val catalog = f.open()
    catalog.createNamespace(Vector("db", "inner"), Map("a" -> "1"))
    catalog.alterNamespace(Vector("db", "inner"), Map("exists" -> "false"), Set("a", "exists"))
    assert(catalog.loadNamespace(Vector("db", "inner")) == Map("location" -> "mem://wh/db/inner"))
    assert(catalog.namespaceExists(Vector("db", "inner")) && catalog.namespaceExists(Vector("db")))
    assert(catalog.listNamespaces(Vector("db")) == Vector(Vector("db", "inner")))
  }

  onEach("a table can be renamed within and between namespaces") { f =>
    val catalog = f.open()
    val table = append(catalog.create(Id, unpartitioned()), "x")
    catalog.createNamespace(Vector("other"), Map.empty)
    val to = TableIdentifier(Vector("other"), "u")
    catalog.rename(Id, to)
    assert(!catalog.tableExists(Id) && catalog.table(to).metadataLocation == table.metadataLocation)
    assert(liveFiles(append(catalog.table(to), "y")) == Vector("x", "y"))
    intercept[NotFound](catalog.rename(Id, to))
    catalog.create(Id, unpartitioned())
    assert(intercept[AlreadyExists](catalog.rename(Id, to)).getMessage.contains("lite.other.u"))
    intercept[NotFound](catalog.rename(Id, TableIdentifier(Vector("nope"), "u")))
  }

  onEach("a rename or a drop whose response was lost succeeds") { f =>
    val catalog = f.open()
    catalog.create(Id, unpartitioned())
    FaultyDriver.breaks = Vector("UPDATE iceberg_tables SET table_namespace" -> FaultyDriver.After)
    catalog.rename(Id, Id.copy(name = "u"))
    assert(catalog.listTables(Vector("db")).map(_.name) == Vector("u"))
    FaultyDriver.breaks = Vector("DELETE FROM iceberg_tables" -> FaultyDriver.After)
    assert(catalog.drop(Id.copy(name = "u"), purge = false) && catalog.listTables(Vector.empty).isEmpty)
  }

  onEach("a metadata file can be registered as a table") { f =>
    val catalog = f.open()
    val table = append(catalog.create(Id, unpartitioned()), "x")
    catalog.drop(Id, purge = false)
    assert(liveFiles(catalog.register(Id, table.metadataLocation)) == Vector("x"))
    intercept[AlreadyExists](catalog.register(Id, table.metadataLocation))
    intercept[UnreadableFile](catalog.register(Id.copy(name = "u"), "mem://nope.metadata.json"))
    FaultyDriver.breaks = Vector("INSERT INTO iceberg_tables" -> FaultyDriver.After)
    assert(liveFiles(catalog.register(Id.copy(name = "u"), table.metadataLocation)) == Vector("x"))
  }

  onEach("with jdbc.strict-mode=true a table can be created only in an existing namespace") { f =>
    val catalog = f.open("jdbc.strict-mode" -> "true")
    intercept[NotFound](catalog.create(Id, unpartitioned()))
    assert(f.files.paths.isEmpty)
    catalog.createNamespace(Vector("db"), Map.empty)
    catalog.create(Id, unpartitioned())
  }

  onEach("a purge also deletes the files of a commit that happens concurrently before the drop") { f =>
    val catalog = f.open()
    val table = append(catalog.create(Id, unpartitioned("commit.manifest-merge.enabled" -> "false")), "mem://wh/x")
    val other = f.open()
    FaultyDriver.before("DELETE FROM iceberg_tables") {
      append(other.table(Id), "mem://wh/y")
    }
    assert(catalog.drop(Id, purge = true))
    assert(f.files.paths.isEmpty, "the files of the other writer must be deleted too")
    assert(!catalog.drop(Id, purge = true) && table.metadata.snapshots.size == 1)
  }

  onEach("a table that is renamed while it is purged keeps its files") { f =>
    val catalog = f.open()
    append(catalog.create(Id, unpartitioned()), "x")
    val other = f.open()
    FaultyDriver.before("DELETE FROM iceberg_tables")(other.rename(Id, Id.copy(name = "u")))
    assert(!catalog.drop(Id, purge = true))
    assert(liveFiles(catalog.table(Id.copy(name = "u"))) == Vector("x"))
  }
}
