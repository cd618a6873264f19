package iceberglite.catalog.jdbc

import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.{Catalog, Catalogs, FaultyDriver}
import iceberglite.servers.JdbcDatabase
import iceberglite.table.TestTables._
import iceberglite.table._
import iceberglite.table.action.FastAppend

/** Base class of suites for JDBC catalogs. A test that `onEach` defines runs on each kind of database. */
abstract class JdbcTests extends AnyFunSuite with BeforeAndAfterEach {

  override def afterEach(): Unit = FaultyDriver.reset()

  /** An empty database, on which tests open catalogs. */
  final protected class Fixture(val kind: TestDatabase, val database: JdbcDatabase) {
    val files: MemoryFileIO = new MemoryFileIO

    /** Opens a catalog whose connections fail as scripted in [[FaultyDriver]]. */
    def open(properties: (String, String)*): Catalog = openIn(environment, properties: _*)

    def openIn(environment: Environment, properties: (String, String)*): Catalog = {
      val faulty = database.copy(url = database.url.replaceFirst("jdbc:", FaultyDriver.Prefix))
      val basic = TestDatabase.properties(faulty) + ("warehouse" -> "mem://wh")
      Catalogs.open("lite", basic ++ properties, files, environment)
    }

    def sql(statements: String*): Unit = TestDatabase.update(database)(statements: _*)
    def rows(query: String): Vector[Vector[String]] = TestDatabase.rows(database)(query)._2
    def columns(table: String): Vector[String] = TestDatabase.rows(database)(s"SELECT * FROM $table")._1

    /** Creates `iceberg_tables` as in schema version V0 (`jdbc.schema-version`), without the column `iceberg_type`. */
    def makeOldTables(): Unit = sql(
      "CREATE TABLE iceberg_tables(catalog_name VARCHAR(255) NOT NULL,table_namespace VARCHAR(255) NOT NULL," +
        "table_name VARCHAR(255) NOT NULL,metadata_location VARCHAR(1000),previous_metadata_location VARCHAR(1000)," +
        "PRIMARY KEY (catalog_name, table_namespace, table_name))"
    )
  }

  protected def onEach(name: String, databases: Seq[TestDatabase] = TestDatabase.all)(body: Fixture => Unit): Unit =
    databases.foreach { kind =>
      test(s"$name (${kind.name})")(kind.withNew(database => body(new Fixture(kind, database))))
    }

  protected def append(table: Table, path: String): Table =
    table.transaction(Map.empty, environment).add(new FastAppend(Vector(file(path)))).commit()

  /** The beginning of the SQL statement that makes a commit visible. */
  protected val swap = "UPDATE iceberg_tables SET metadata_location"
}
