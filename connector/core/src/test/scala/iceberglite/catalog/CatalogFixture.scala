package iceberglite.catalog

import iceberglite.catalog.hive.HiveFixture
import iceberglite.catalog.jdbc.TestDatabase
import iceberglite.catalog.rest.RestFixture
import iceberglite.storage.FileIO
import iceberglite.table.{Environment, ListableFiles, MemoryFileIO, TableIdentifier, TestTables}

/** A kind of catalog on which suites run their tests. */
trait CatalogFixture {

  /** The name of the catalog kind in test names. */
  def kind: String

  /** Returns the properties of a catalog whose state is in `store`. */
  def properties(store: CatalogFixture.Store): Map[String, String]

  def withStore[A](body: CatalogFixture.Store => A): A

  /** The number of appends of each concurrent writer. */
  def appends: Int = 10

  /** Whether the catalog supports nested namespaces. */
  def isNested: Boolean = true

  /** Whether the catalog itself reads metadata files. A REST catalog gets the metadata from its server instead. */
  def readsMetadata: Boolean = true

  /**
   * Returns the catalog. If it behaves differently from what the suites expect, wraps it in a catalog that behaves as
   * expected.
   */
  def adapted(catalog: Catalog): Catalog = catalog

  /** Opens a new catalog object on the given store, as another process would do. */
  final def open(
      store: CatalogFixture.Store,
      io: FileIO,
      environment: Environment = TestTables.environment
  ): Catalog = adapted(Catalogs.open("lite", properties(store), io, environment))
}

object CatalogFixture {

  /**
   * The storage and the database that contain the state of a catalog.
   *
   * @param files the storage of the table files
   * @param database catalog properties for the connection to the catalog's database; empty without a database
   * @param place prefix of all file paths; the warehouse is the directory `wh` below it
   */
  final case class Store(files: ListableFiles, database: Map[String, String], place: String = "mem:/")

  val Id: TableIdentifier = TableIdentifier(Vector("db"), "t")
  private val warehouse = Map("warehouse" -> "mem://wh")

  object Hadoop extends CatalogFixture {
    override val kind = "hadoop"
    override def properties(store: Store): Map[String, String] = warehouse + ("type" -> "hadoop")
    override def withStore[A](body: Store => A): A = body(Store(new MemoryFileIO, Map.empty))
  }

  private class InDatabase(val kind: String, database: TestDatabase) extends CatalogFixture {
    override def properties(store: Store): Map[String, String] = warehouse ++ store.database

    override def withStore[A](body: Store => A): A =
      database.withNew(d => body(Store(new MemoryFileIO, TestDatabase.properties(d))))
  }

  val Jdbc: CatalogFixture = new InDatabase("jdbc on SQLite", TestDatabase.Sqlite)
  val Postgres: CatalogFixture = new InDatabase("jdbc on PostgreSQL", TestDatabase.Postgres)

  /** The fixtures that need no server. */
  val embedded: Seq[CatalogFixture] = Seq(Hadoop, Jdbc)
  val hadoopAndJdbc: Seq[CatalogFixture] = embedded :+ Postgres

  /** The fixtures in `hadoopAndJdbc`, and the fixtures for Hive and S3, whose calls are slow. */
  val allExceptRest: Seq[CatalogFixture] = hadoopAndJdbc :+ HiveFixture :+ S3Fixture

  /** All fixtures. The server of the REST catalog writes the metadata files. */
  val allWithRest: Seq[CatalogFixture] = allExceptRest :+ RestFixture
}
