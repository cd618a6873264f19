package iceberglite.catalog.jdbc

import iceberglite.catalog.{Catalog, FaultyDriver, ViewCatalog}
import iceberglite.catalog.CatalogFixture.Id
import iceberglite.spec.IcebergError._
import iceberglite.spec.update.MetadataUpdate.SetProperties
import iceberglite.table.{StageMode, TableIdentifier, ViewChange}
import iceberglite.table.TestTables._

/** Tests views in a JDBC catalog that also contains tables. */
class JdbcViewSuite extends JdbcTests {
  private val View = TableIdentifier(Vector("db"), "v")
  private val swapView = "UPDATE iceberg_tables SET metadata_location"

  private def views(catalog: Catalog): ViewCatalog = catalog match {
    case views: ViewCatalog => views
    case other => fail(s"The catalog $other does not support views")
  }

  private def define(sql: String) = SampleViews.create("mem://wh/db/v", sql)

  onEach("a view can be created, listed, loaded, replaced and dropped") { f =>
    val catalog = views(f.open())
    val first = catalog.commitView(View, None, define("SELECT 1"))
    assert(first.metadataLocation.matches("mem://wh/db/v/metadata/00000-[0-9a-f-]{36}\\.gz\\.metadata\\.json"))
    assert(catalog.viewExists(View) && catalog.listViews(Vector("db")) == Vector(View))
    assert(catalog.loadView(View) == first)
    val replaced = catalog.commitView(View, Some(first), SampleViews.replace(first.metadata, "SELECT 2"))
    assert(replaced.metadataLocation.contains("/00001-") && replaced.metadata.uuid == first.metadata.uuid)
    assert(SampleViews.sql(catalog.loadView(View).metadata) == "SELECT 2")
    assert(catalog.loadView(View).metadata.versions.size == 2)
    assert(f.rows("SELECT iceberg_type, metadata_location, previous_metadata_location FROM iceberg_tables") ==
      Vector(Vector("VIEW", replaced.metadataLocation, first.metadataLocation)))
    assert(catalog.dropView(View) && !catalog.dropView(View) && !catalog.viewExists(View))
    intercept[NotFound](catalog.loadView(View))
  }

  onEach("a table and a view cannot have the same name") { f =>
    val catalog = f.open()
    val table = catalog.create(Id, unpartitioned())
    val first = views(catalog).commitView(View, None, define("SELECT 1"))
    val before = f.files.paths
    assert(catalog.listTables(Vector("db")) == Vector(Id) && views(catalog).listViews(Vector("db")) == Vector(View))
    assert(!catalog.tableExists(View) && !views(catalog).viewExists(Id) && !catalog.drop(View, purge = false))
    assert(!views(catalog).dropView(Id))
    intercept[NotFound](catalog.table(View))
    intercept[NotFound](views(catalog).loadView(Id))
    val nameConflict = intercept[AlreadyExists](views(catalog).commitView(Id, None, define("SELECT 1")))
    assert(nameConflict.getMessage.startsWith("Table already exists: lite.db.t"))
    assert(intercept[AlreadyExists](catalog.create(View, unpartitioned())).getMessage.startsWith("View already exists"))
    intercept[AlreadyExists](catalog.stage(View, unpartitioned(), StageMode.CreateOrReplace))
    intercept[AlreadyExists](catalog.register(View, table.metadataLocation))
    intercept[AlreadyExists](catalog.rename(Id, View))
    intercept[AlreadyExists](views(catalog).renameView(View, Id))
    intercept[AlreadyExists](views(catalog).commitView(View, None, define("SELECT 2")))
    intercept[ValidationFailed](catalog.dropNamespace(Vector("db")))
    assert(f.files.paths == before && views(catalog).loadView(View) == first)
  }

  onEach("creating a table fails if a view with the same name is created concurrently") { f =>
    val catalog = f.open()
    val other = views(f.open())
    catalog.createNamespace(Vector("db"), Map.empty)
    FaultyDriver.before("INSERT INTO iceberg_tables")(other.commitView(View, None, define("SELECT 1")))
    val error = intercept[AlreadyExists](catalog.create(View, unpartitioned()))
    assert(error.getMessage.startsWith("View already exists: lite.db.v"))
    assert(f.files.paths == Set(other.loadView(View).metadataLocation))
  }

  onEach("a view can be renamed within and between namespaces") { f =>
    val catalog = views(f.open())
    val first = catalog.commitView(View, None, define("SELECT 1"))
    f.open().createNamespace(Vector("other"), Map.empty)
    val to = TableIdentifier(Vector("other"), "w")
    catalog.renameView(View, to)
    assert(catalog.loadView(to) == first && !catalog.viewExists(View))
    intercept[NotFound](catalog.renameView(View, to))
    intercept[NotFound](catalog.renameView(to, TableIdentifier(Vector("nope"), "w")))
  }

  onEach("if two writers change a view concurrently, the second gets a conflict and leaves no files") { f =>
    val catalog = views(f.open())
    val first = catalog.commitView(View, None, define("SELECT 1"))
    val changed = catalog.commitView(View, Some(first), SampleViews.replace(first.metadata, "SELECT 2"))
    val before = f.files.paths
    intercept[CommitConflict](catalog.commitView(View, Some(first), SampleViews.replace(first.metadata, "SELECT 3")))
    assert(f.files.paths == before && catalog.loadView(View) == changed)
    catalog.dropView(View)
    val second = catalog.commitView(View, None, define("SELECT 4"))
    intercept[ValidationFailed](catalog.commitView(View, Some(second), SampleViews.replace(first.metadata, "SELECT 5")))
  }

  for (break <- Seq(FaultyDriver.Before, FaultyDriver.After))
    onEach(s"a view change whose connection breaks succeeds: $break") { f =>
      val catalog = views(f.open())
      val first = catalog.commitView(View, None, define("SELECT 1"))
      FaultyDriver.breaks = Vector(swapView -> break)
      val changed = catalog.commitView(View, Some(first), SampleViews.replace(first.metadata, "SELECT 2"))
      assert(catalog.loadView(View) == changed)
    }

  onEach("the metadata of a view is not compressed if write.metadata.compression-codec is none") { f =>
    val catalog = views(f.open())
    val uncompressed = SetProperties(Map("write.metadata.compression-codec" -> "none"))
    val change = define("SELECT 1")
    val first = catalog.commitView(View, None, ViewChange(change.updates :+ uncompressed, Vector.empty))
    assert(new String(f.files.read(first.metadataLocation), "UTF-8").startsWith("{"))
  }

  onEach("a database without the column iceberg_type has no views, and the error contains the setting to use") { f =>
    f.makeOldTables()
    val catalog = views(f.open())
    val error = intercept[Unsupported](catalog.commitView(View, None, define("SELECT 1")))
    assert(error.getMessage.contains("Set jdbc.schema-version=V1"))
    assert(!catalog.viewExists(View) && !catalog.dropView(View) && f.files.paths.isEmpty)
    intercept[Unsupported](catalog.listViews(Vector.empty))
    intercept[NotFound](catalog.loadView(View))
    val upgraded = views(f.open("jdbc.schema-version" -> "V1"))
    upgraded.commitView(View, None, define("SELECT 1"))
    assert(upgraded.listViews(Vector("db")) == Vector(View))
  }
}
