package iceberglite.catalog.jdbc

import java.nio.file.Files
import java.sql.{Connection, DriverManager, SQLException}
import java.util.concurrent.atomic.AtomicInteger

import iceberglite.servers.{JdbcDatabase, Servers}

/** A kind of database on which suites run tests of JDBC catalogs. */
trait TestDatabase {
  def name: String

  /** Runs `body` with an empty database. */
  def withNew[A](body: JdbcDatabase => A): A

  /** The error that the database raises when it is busy. */
  def busy: SQLException
}

object TestDatabase {

  object Sqlite extends TestDatabase {
    override val name = "SQLite"

    override def withNew[A](body: JdbcDatabase => A): A = {
      val file = Files.createTempFile("catalog", ".db")
      try body(JdbcDatabase(s"jdbc:sqlite:$file", "", ""))
      finally Files.deleteIfExists(file)
    }

    override def busy: SQLException =
      new org.sqlite.SQLiteException("[SQLITE_BUSY] by the test", org.sqlite.SQLiteErrorCode.SQLITE_BUSY)
  }

  /** Creates a schema for each test in one PostgreSQL database, which is faster than a database for each test. */
  object Postgres extends TestDatabase {
    override val name = "PostgreSQL"
    private lazy val database = Servers.postgres.newDatabase()
    private val schemaCount = new AtomicInteger

    override def withNew[A](body: JdbcDatabase => A): A = {
      val schema = s"catalog_${schemaCount.incrementAndGet()}"
      run(database)(_.createStatement().execute(s"CREATE SCHEMA $schema"))
      body(database.copy(url = s"${database.url}?currentSchema=$schema"))
    }

    override def busy: SQLException = new SQLException("by the test: deadlock detected", "40P01")
  }

  /** Creates a PostgreSQL database for each test. Tests that list all schemas need it. */
  object PostgresPerTest extends TestDatabase {
    override val name = "PostgreSQL"
    override def withNew[A](body: JdbcDatabase => A): A = body(Servers.postgres.newDatabase())
    override def busy: SQLException = Postgres.busy
  }

  val all: Seq[TestDatabase] = Seq(Sqlite, Postgres)

  def run[A](database: JdbcDatabase)(body: Connection => A): A = {
    val connection = DriverManager.getConnection(database.url, database.user, database.password)
    try body(connection)
    finally connection.close()
  }

  def update(database: JdbcDatabase)(statements: String*): Unit =
    run(database)(c => statements.foreach(c.createStatement().executeUpdate(_)))

  /** Returns the column names and the rows of a query's result, with all values as text. */
  def rows(database: JdbcDatabase)(query: String): (Vector[String], Vector[Vector[String]]) = run(database) { c =>
    val results = c.createStatement().executeQuery(query)
    val columns = (1 to results.getMetaData.getColumnCount).toVector
    val names = columns.map(results.getMetaData.getColumnName(_))
    names -> Iterator.continually(results).takeWhile(_.next())
      .map(r => columns.map(i => String.valueOf(r.getString(i)))).toVector
  }

  /** Returns the properties of a JDBC catalog on the database. */
  def properties(database: JdbcDatabase): Map[String, String] =
    Map("type" -> "jdbc", "uri" -> database.url, "jdbc.user" -> database.user, "jdbc.password" -> database.password)
      .filter(_._2.nonEmpty)
}
