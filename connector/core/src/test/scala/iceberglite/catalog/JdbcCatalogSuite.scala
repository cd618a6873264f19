package iceberglite.catalog

import java.nio.file.{Files, Path}
import java.sql.{DriverManager, SQLException}

import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.CatalogFixture.Id
import iceberglite.spec.IcebergError._
import iceberglite.table.TestTables._
import iceberglite.table._
import iceberglite.table.action._

class JdbcCatalogSuite extends AnyFunSuite with BeforeAndAfterEach {

  override def afterEach(): Unit = FaultyDriver.reset()

  /** A catalog on a database file that other processes could use as well. */
  final private class Fixture(database: Path, val files: MemoryFileIO = new MemoryFileIO) {
    def open(properties: (String, String)*): Catalog = {
      val basic = Map("type" -> "jdbc", "warehouse" -> "mem://wh", "uri" -> s"${FaultyDriver.Prefix}$database")
      Catalogs.open("lite", basic ++ properties, files, environment)
    }

    def sql(statements: String*): Unit = {
      val connection = DriverManager.getConnection(s"jdbc:sqlite:$database")
      try statements.foreach(connection.createStatement().executeUpdate(_))
      finally connection.close()
    }

    def rows(query: String): Vector[Vector[String]] = {
      val connection = DriverManager.getConnection(s"jdbc:sqlite:$database")
      try {
        val results = connection.createStatement().executeQuery(query)
        val columns = 1 to results.getMetaData.getColumnCount
        Iterator.continually(results).takeWhile(_.next())
          .map(r => columns.map(c => String.valueOf(r.getString(c))).toVector).toVector
      } finally connection.close()
    }
  }

  private def withDatabase(body: Fixture => Unit): Unit = {
    val database = Files.createTempFile("catalog", ".db")
    try body(new Fixture(database))
    finally Files.deleteIfExists(database)
  }

  private def append(table: Table, path: String): Table =
    table.transaction(Map.empty, environment).add(new FastAppend(Vector(file(path)))).commit()

  private val swap = "UPDATE iceberg_tables SET metadata_location"

  test("a table is a row in the layout that other engines share") {
    withDatabase { f =>
      val catalog = f.open()
      val first = catalog.create(Id, unpartitioned())
      assert(first.metadataLocation.matches("mem://wh/db/t/metadata/00000-[0-9a-f-]{36}\\.metadata\\.json"))
      val second = append(first, "x")
      assert(second.metadataLocation.contains("/00001-"))
      assert(f.rows("SELECT * FROM iceberg_tables") ==
        Vector(Vector("lite", "db", "t", second.metadataLocation, first.metadataLocation, "TABLE")))
      val columns = f.rows("PRAGMA table_info(iceberg_tables)").map(_(1))
      assert(columns == Vector(
        "catalog_name",
        "table_namespace",
        "table_name",
        "metadata_location",
        "previous_metadata_location",
        "iceberg_type"
      ))
      val others = f.rows("PRAGMA table_info(iceberg_namespace_properties)").map(_(1))
      assert(others == Vector("catalog_name", "namespace", "property_key", "property_value"))
    }
  }

  test("a database of an old release, without types of rows, is read and written as it is") {
    withDatabase { f =>
      f.sql(
        "CREATE TABLE iceberg_tables(catalog_name VARCHAR(255) NOT NULL,table_namespace VARCHAR(255) NOT NULL," +
          "table_name VARCHAR(255) NOT NULL,metadata_location VARCHAR(1000),previous_metadata_location VARCHAR(1000)," +
          "PRIMARY KEY (catalog_name, table_namespace, table_name))"
      )
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
  }

  test("views and other catalogs' tables are not ours") {
    withDatabase { f =>
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
  }

  test("namespaces have properties, and a marker that makes an empty one exist") {
    withDatabase { f =>
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
  }

  test("names with the wildcards of LIKE and with quotes are only names") {
    withDatabase { f =>
      val catalog = f.open()
      catalog.createNamespace(Vector("a_b"), Map.empty)
      assert(!catalog.namespaceExists(Vector("axb")) && !catalog.namespaceExists(Vector("a%")))
      assert(!catalog.namespaceExists(Vector("A_B")) && !catalog.namespaceExists(Vector("a_")))
      val quoted = TableIdentifier(Vector("a_b"), "it's; DROP TABLE iceberg_tables")
      append(catalog.create(quoted, unpartitioned()), "x")
      assert(liveFiles(catalog.table(quoted)) == Vector("x"))
      intercept[InvalidArgument](catalog.createNamespace(Vector("a.b"), Map.empty))
    }
  }

  test("a table is renamed within and between namespaces") {
    withDatabase { f =>
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
  }

  test("a metadata file is registered as a table") {
    withDatabase { f =>
      val catalog = f.open()
      val table = append(catalog.create(Id, unpartitioned()), "x")
      catalog.drop(Id, purge = false)
      assert(liveFiles(catalog.register(Id, table.metadataLocation)) == Vector("x"))
      intercept[AlreadyExists](catalog.register(Id, table.metadataLocation))
      intercept[UnreadableFile](catalog.register(Id.copy(name = "u"), "mem://nope.metadata.json"))
    }
  }

  test("in strict mode a table needs a namespace that exists") {
    withDatabase { f =>
      val catalog = f.open("jdbc.strict-mode" -> "true")
      intercept[NotFound](catalog.create(Id, unpartitioned()))
      assert(f.files.paths.isEmpty)
      catalog.createNamespace(Vector("db"), Map.empty)
      catalog.create(Id, unpartitioned())
    }
  }

  test("a driver that is not there is one line that names its jar") {
    val uri = "jdbc:postgresql://host/db?password=secret"
    val properties = Map("type" -> "jdbc", "warehouse" -> "mem://wh", "uri" -> uri)
    val catalog = Catalogs.open("lite", properties, new MemoryFileIO)
    val error = intercept[NotFound](catalog.listNamespaces(Vector.empty))
    assert(error.getMessage.contains("org.postgresql:postgresql") && !error.getMessage.contains("\n"))
    assert(!error.getMessage.contains("secret"))
  }

  test("a connection that breaks while asking is made again") {
    withDatabase { f =>
      val catalog = f.open()
      append(catalog.create(Id, unpartitioned()), "x")
      FaultyDriver.breaks = Vector("SELECT metadata_location" -> FaultyDriver.Before)
      assert(liveFiles(catalog.table(Id)) == Vector("x"))
      FaultyDriver.breaks = Vector.fill(2)("SELECT metadata_location" -> FaultyDriver.Before)
      assert(intercept[StorageFailed](catalog.table(Id)).getMessage.contains("catalog database"))
    }
  }

  for (break <- Seq(FaultyDriver.Before, FaultyDriver.After))
    test(s"a connection that breaks in the middle of a commit is no doubt when the database can be asked ($break)") {
      withDatabase { f =>
        val catalog = f.open()
        val table = catalog.create(Id, unpartitioned())
        FaultyDriver.breaks = Vector(swap -> break)
        val committed = append(table, "x")
        assert(liveFiles(committed) == Vector("x") && committed.metadataLocation == catalog.table(Id).metadataLocation)
        assert(f.files.paths == reachable(f.files, committed.version))
      }
    }

  test("a commit whose success was not heard, and that others went on from, is a success") {
    withDatabase { f =>
      val catalog = f.open()
      val table = catalog.create(Id, unpartitioned())
      // The second try comes after somebody else's commit.
      var overtaken = false
      FaultyDriver.breaks = Vector(swap -> FaultyDriver.After)
      val files = new FileIOWrapper(f.files)
      val mine = new Table(
        table.id,
        table.name,
        table.version,
        files,
        new Committer {
          override def load(id: TableIdentifier): TableVersion = catalog.load(id)
          override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
            val done = catalog.commit(id, base, change)
            if (!overtaken) {
              overtaken = true
              append(f.open().table(Id), "theirs")
            }
            done
          }
        }
      )
      append(mine, "mine")
      assert(liveFiles(catalog.table(Id)) == Vector("mine", "theirs"))
    }
  }

  test("a database that cannot be asked leaves doubt, and every file") {
    withDatabase { f =>
      val catalog = f.open()
      val table = catalog.create(Id, unpartitioned())
      val before = f.files.paths
      FaultyDriver.breaks = Vector(swap -> FaultyDriver.After, swap -> FaultyDriver.Before)
      FaultyDriver.down = true
      val error = intercept[CommitStateUnknown](append(table, "x"))
      assert(error.metadataFile.contains("/00001-"))
      assert((f.files.paths -- before).size == 3, "metadata file, list and manifest are kept")
      FaultyDriver.reset()
      assert(liveFiles(catalog.table(Id)) == Vector("x"), "it had happened")
    }
  }

  test("a busy database is a conflict, which is tried again, and in the end leaves nothing") {
    withDatabase { f =>
      val catalog = f.open()
      val table = catalog.create(Id, unpartitioned("commit.retry.num-retries" -> "2"))
      val busy = FaultyDriver.Answer(sqliteBusy)
      FaultyDriver.breaks = Vector.fill(2)(swap -> busy)
      val committed = append(table, "x")
      assert(f.files.paths == reachable(f.files, committed.version))
      FaultyDriver.breaks = Vector.fill(3)(swap -> busy)
      val before = f.files.paths
      assert(intercept[CommitConflict](append(committed, "y")).getMessage.contains("busy"))
      assert(f.files.paths == before)
    }
  }

  test("a refusal of the database is a definite failure that leaves nothing") {
    withDatabase { f =>
      val catalog = f.open()
      val table = catalog.create(Id, unpartitioned())
      val before = f.files.paths
      FaultyDriver.breaks = Vector(swap -> FaultyDriver.Answer(new SQLException("by the test: read-only")))
      assert(intercept[StorageFailed](append(table, "x")).getMessage.contains("read-only"))
      assert(f.files.paths == before)
    }
  }

  test("a table that was dropped and made again is not mistaken for the old one") {
    withDatabase { f =>
      val catalog = f.open()
      val old = append(catalog.create(Id, unpartitioned()), "x")
      catalog.drop(Id, purge = false)
      catalog.create(Id, unpartitioned())
      intercept[ValidationFailed](append(old, "mine"))
      assert(liveFiles(catalog.table(Id)).isEmpty)
    }
  }

  private def sqliteBusy: SQLException =
    new org.sqlite.SQLiteException("[SQLITE_BUSY] by the test", org.sqlite.SQLiteErrorCode.SQLITE_BUSY)
}
