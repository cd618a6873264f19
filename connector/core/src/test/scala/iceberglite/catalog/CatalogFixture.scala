package iceberglite.catalog

import iceberglite.catalog.hive.HiveFixture
import iceberglite.catalog.jdbc.TestDatabase
import iceberglite.catalog.rest.RestFixture
import iceberglite.storage.FileIO
import iceberglite.table.{Environment, KeptFiles, MemoryFileIO, TableIdentifier, TestTables}

/** A catalog to run a suite on. */
trait CatalogFixture {

  /** As tests are called. */
  def kind: String

  /** What a catalog in a store is set up with. */
  def properties(store: CatalogFixture.Store): Map[String, String]

  def withStore[A](body: CatalogFixture.Store => A): A

  /** How often each of several writers appends. */
  def appends: Int = 10

  /** Whether namespaces may be within namespaces. */
  def isNested: Boolean = true

  /** Whether the metadata is read from its files, and not given by a server. */
  def readsMetadata: Boolean = true

  /** A catalog as the suites expect it. */
  def adapted(catalog: Catalog): Catalog = catalog

  /** A second catalog object of the same `store` shows what another process would see. */
  final def open(
      store: CatalogFixture.Store,
      io: FileIO,
      environment: Environment = TestTables.environment
  ): Catalog = adapted(Catalogs.open("lite", properties(store), io, environment))
}

object CatalogFixture {

  /**
   * Where a catalog's state is: files, and a database that these properties lead to.
   *
   * @param place what the locations of the files begin with; the warehouse is `wh` in it
   */
  final case class Store(files: KeptFiles, database: Map[String, String], place: String = "mem:/")

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

  /** Without servers. */
  val embedded: Seq[CatalogFixture] = Seq(Hadoop, Jdbc)
  val all: Seq[CatalogFixture] = embedded :+ Postgres

  /** Those too whose every call takes its time. */
  val everywhere: Seq[CatalogFixture] = all :+ HiveFixture :+ S3Fixture

  /** Those too whose server writes files of its own. */
  val everyKind: Seq[CatalogFixture] = everywhere :+ RestFixture
}
