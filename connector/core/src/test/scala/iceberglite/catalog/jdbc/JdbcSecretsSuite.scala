package iceberglite.catalog.jdbc

import java.io.{PrintWriter, StringWriter}
import java.sql.SQLException

import iceberglite.catalog.{Catalog, Catalogs, FaultyDriver}
import iceberglite.catalog.CatalogFixture.Id
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError._
import iceberglite.table.MemoryFileIO
import iceberglite.table.TestTables._

/** Tests that error messages do not contain the database password, however it is configured. */
class JdbcSecretsSuite extends JdbcTests {
  private val Secret = "s3cr3t&Pass@word"

  private def open(uri: String, properties: (String, String)*): Catalog = {
    val basic = Map("type" -> "jdbc", "warehouse" -> "mem://wh", "uri" -> uri)
    Catalogs.open("lite", basic ++ properties, new MemoryFileIO, environment)
  }

  /** Returns the stack trace of the error with all its causes, as a log would contain it. */
  private def asText(error: Throwable): String = {
    val text = new StringWriter
    error.printStackTrace(new PrintWriter(text))
    text.toString
  }

  private def assertNoSecret(error: Throwable): Unit = {
    assert(!asText(error).contains(Secret) && !asText(error).contains("s3cr3t"), asText(error))
    ()
  }

  test("the error for a missing JDBC driver is a single line that contains the Maven coordinates of the driver") {
    val catalog = open("jdbc:mysql://host/db?password=secret")
    val error = intercept[NotFound](catalog.listNamespaces(Vector.empty))
    assert(error.getMessage.contains("com.mysql:mysql-connector-j") && !error.getMessage.contains("\n"))
    assert(!error.getMessage.contains("secret"))
  }

  test("the text form of a JDBC URL contains at most the address of the database") {
    def asText(url: String) = new JdbcUrl(url, Map.empty).toString
    assert(asText("jdbc:postgresql://host:1/db?user=u&password=p") == "jdbc:postgresql://host:1/db")
    assert(asText("jdbc:sqlserver://host;user=u;password=p") == "jdbc:sqlserver://host")
    assert(asText("jdbc:mysql://u:p@host/db") == "jdbc:mysql:***")
    assert(asText("jdbc:oracle:thin:scott/tiger@//host/db") == "jdbc:oracle:***")
    assert(asText("jdbc:sqlite:/data/a@b.db") == "jdbc:sqlite:/data/a@b.db")
  }

  test("secrets in the URL or in the properties are masked in driver messages") {
    def redacted(url: String, message: String, settings: (String, String)*) =
      new JdbcUrl(url, settings.toMap).redacted(message)
    assert(redacted("jdbc:mysql://u:p%40w@host/db", "not u:p%40w but p@w") == "not u:*** but ***")
    assert(redacted("jdbc:oracle:thin:scott/tiger@//host/db", "tiger!") == "***!")
    assert(redacted("jdbc:x://h/d?sslpassword=abc&ok=yes", "abc, yes") == "***, yes")
    assert(redacted("jdbc:x://h/d", "abc, yes", "password" -> "abc", "user" -> "yes") == "***, yes")
    assert(redacted("jdbc:x://h/d?password=", "abc") == "abc")
  }

  test("a URL that is not a JDBC URL is not shown, because PyIceberg URLs may contain a password") {
    val error = intercept[InvalidArgument](open(s"postgresql+psycopg2://user:$Secret@host/db"))
    assert(error.getMessage.contains("uri of catalog lite") && error.getMessage.contains("begin with jdbc:"))
    assertNoSecret(error)
  }

  test("the error of a failed connection or login to PostgreSQL does not contain the password") {
    TestDatabase.Postgres.withNew { database =>
      val right = database.url
      val encoded = java.net.URLEncoder.encode(Secret, "UTF-8")
      Seq(
        open(right, "jdbc.user" -> database.user, "jdbc.password" -> Secret),
        open(s"$right&user=${database.user}&password=$encoded"),
        open(s"jdbc:postgresql://127.0.0.1:1/db?password=$encoded"),
        open(s"jdbc:postgresql://no such host/db?password=$encoded"),
        open(right, "jdbc.user" -> database.user, "jdbc.password" -> Secret, "jdbc.socketFactory" -> Secret)
      ).foreach { catalog =>
        val error = intercept[StorageFailed](catalog.listNamespaces(Vector.empty))
        assert(error.getMessage.contains("in the catalog database jdbc:postgresql:"), error)
        assertNoSecret(error)
        assert(!catalog.toString.contains("s3cr3t"))
        catalog.close()
      }
    }
  }

  onEach("if the message of a driver contains a password, errors contain neither the message nor its causes") { f =>
    val catalog = f.open("jdbc.trustStorePassword" -> Secret, "jdbc.user" -> f.database.user)
    catalog.create(Id, unpartitioned())
    def exceptionWithSecret =
      new SQLException(s"cannot log in with $Secret", "28P01", new RuntimeException(s"because of $Secret"))
    FaultyDriver.breaks = Vector("SELECT metadata_location" -> FaultyDriver.DatabaseError(exceptionWithSecret))
    assertNoSecret(intercept[StorageFailed](catalog.table(Id)))
    val table = catalog.table(Id)
    FaultyDriver.breaks = Vector(swap -> FaultyDriver.DatabaseError(exceptionWithSecret))
    assertNoSecret(intercept[StorageFailed](append(table, "x")))
    FaultyDriver.breaks =
      Vector.fill(9)(swap -> FaultyDriver.DatabaseError(new SQLException(Secret, "08007", exceptionWithSecret)))
    assertNoSecret(intercept[IcebergError](append(table, "y")))
  }
}
