package iceberglite.spark.error

import java.nio.file.{Path, Paths}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.Identifier
import org.scalatest.Suite
import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Millis, Seconds, Span}

import iceberglite.spark.session.LiteCatalog
import iceberglite.table.{ReachableFiles, Table}

/**
 * Reads the rows and checks the files of the tables of [[ErrorBoundaryFixture]] after maintenance that failed or was
 * stopped.
 */
private[error] trait MaintenanceFixture extends ErrorBoundaryFixture with Eventually { self: Suite =>
  implicit override val patienceConfig: PatienceConfig = PatienceConfig(Span(30, Seconds), Span(50, Millis))

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    tableFacts
    ()
  }

  protected def rowsOf(session: SparkSession, table: String): Seq[String] = inSession(session) { s =>
    s.sql(s"REFRESH TABLE faulty.db.$table")
    s.sql(s"SELECT * FROM faulty.db.$table").collect().map(_.toString).toSeq.sorted
  }

  protected def load(session: SparkSession, name: String): Table =
    session.sessionState.catalogManager.catalog("faulty").asInstanceOf[LiteCatalog]
      .sharedTable(Identifier.of(Array("db"), name)).current

  protected def directoryOf(table: Table): Path = Paths.get(table.location.replaceFirst("^ofs://wh", ""))

  /** Checks that all files that a table references exist. */
  protected def assertReadable(table: Table): Unit = {
    assert(ReachableFiles.of(table.io, table.version).forall(table.io.exists))
    ()
  }

  /**
   * Returns the names of the data, delete, manifest and statistics files in the table's directory that the table does
   * not reference.
   */
  protected def unreferenced(table: Table): Set[String] = {
    val files = below(directoryOf(table)).map(_.getFileName.toString)
      .filter(name => !name.startsWith(".") && Seq(".parquet", ".avro", ".puffin", ".stats").exists(name.endsWith))
    files.toSet -- ReachableFiles.of(table.io, table.version).map(_.split('/').last)
  }
}
