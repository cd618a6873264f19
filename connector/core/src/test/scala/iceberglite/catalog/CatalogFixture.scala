package iceberglite.catalog

import java.nio.file.Files

import iceberglite.io.FileIO
import iceberglite.table.{Environment, MemoryFileIO, TableIdentifier, TestTables}

/** A catalog to run a suite on. */
trait CatalogFixture {
  def kind: String

  /** A second catalog object of the same `store` shows what another process would see. */
  def open(store: CatalogFixture.Store, io: FileIO, environment: Environment = TestTables.environment): Catalog

  def withStore[A](body: CatalogFixture.Store => A): A
}

object CatalogFixture {

  /** Where a catalog's state is: files in memory, and a database file. */
  final case class Store(files: MemoryFileIO, database: String)

  val Id: TableIdentifier = TableIdentifier(Vector("db"), "t")

  object Hadoop extends CatalogFixture {
    override val kind = "hadoop"

    override def open(store: Store, io: FileIO, environment: Environment): Catalog =
      Catalogs.open("lite", Map("type" -> "hadoop", "warehouse" -> "mem://wh"), io, environment)

    override def withStore[A](body: Store => A): A = body(Store(new MemoryFileIO, ""))
  }

  object Jdbc extends CatalogFixture {
    override val kind = "jdbc"

    override def open(store: Store, io: FileIO, environment: Environment): Catalog = Catalogs.open(
      "lite",
      Map("type" -> "jdbc", "warehouse" -> "mem://wh", "uri" -> s"jdbc:sqlite:${store.database}"),
      io,
      environment
    )

    override def withStore[A](body: Store => A): A = {
      val database = Files.createTempFile("catalog", ".db")
      try body(Store(new MemoryFileIO, database.toString))
      finally Files.deleteIfExists(database)
    }
  }

  val all: Seq[CatalogFixture] = Seq(Hadoop, Jdbc)
}
