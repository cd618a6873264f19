package iceberglite.catalog.jdbc

import java.sql.Driver
import java.util.{ServiceConfigurationError, ServiceLoader}

import scala.util.Try

import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.ObjectKind

/**
 * Finds the JDBC drivers, which users provide. `DriverManager` does not find drivers in jars that were added to a
 * session.
 */
private[catalog] object JdbcDrivers {

  /**
   * A database whose driver is known. The default settings of the driver contain timeouts, for example to detect a dead
   * connection.
   *
   * @param prefix the beginning of the JDBC URLs of the database
   * @param jar the Maven coordinates of the driver's jar, for messages
   */
  final private case class KnownDatabase(prefix: String, driver: String, jar: String, defaults: Map[String, String])

  private val knownDatabases: Seq[KnownDatabase] = Seq(
    // The time in milliseconds for which a statement waits while another process writes to the database file.
    KnownDatabase("jdbc:sqlite:", "org.sqlite.JDBC", "org.xerial:sqlite-jdbc", Map("busy_timeout" -> "10000")),
    // The timeouts are in seconds.
    KnownDatabase(
      "jdbc:postgresql:",
      "org.postgresql.Driver",
      "org.postgresql:postgresql",
      Map("connectTimeout" -> "10", "socketTimeout" -> "60", "tcpKeepAlive" -> "true")
    ),
    // The timeouts are in milliseconds.
    KnownDatabase(
      "jdbc:mysql:",
      "com.mysql.cj.jdbc.Driver",
      "com.mysql:mysql-connector-j",
      Map("connectTimeout" -> "10000", "socketTimeout" -> "60000")
    )
  )

  private def of(url: JdbcUrl): Option[KnownDatabase] = knownDatabases.find(k => url.text.startsWith(k.prefix))

  def defaults(url: JdbcUrl): Map[String, String] = of(url).fold(Map.empty[String, String])(_.defaults)

  /**
   * Returns the driver for a URL.
   *
   * @throws NotFound if the jar of the driver has not been added to the session; the message names the jar
   */
  def driver(url: JdbcUrl): Driver = {
    val loaders = Seq(Thread.currentThread.getContextClassLoader, getClass.getClassLoader).flatMap(Option(_)).distinct
    val byName = for (loader <- loaders; k <- of(url); driver <- newInstanceOf(k.driver, loader)) yield driver
    val registeredDriver = loaders.flatMap(registeredDrivers).find(d => Try(d.acceptsURL(url.text)).getOrElse(false))
    byName.headOption.orElse(registeredDriver).getOrElse {
      val jar = of(url).fold("the jar of the driver")(k => s"the jar of ${k.jar}")
      throw NotFound(
        ObjectKind.JdbcDriver,
        url.toString,
        s"Add $jar to the session, with --jars or spark.jars.packages"
      )
    }
  }

  private def newInstanceOf(name: String, loader: ClassLoader): Option[Driver] =
    Try(Class.forName(name, true, loader).getDeclaredConstructor().newInstance()).toOption
      .collect { case driver: Driver => driver }

  private def registeredDrivers(loader: ClassLoader): Vector[Driver] = {
    val drivers = ServiceLoader.load(classOf[Driver], loader).iterator
    // A driver that a jar declares as a service, but that cannot be loaded, is ignored.
    def next(): Option[Driver] =
      try if (drivers.hasNext) Some(drivers.next()) else None
      catch { case _: ServiceConfigurationError => next() }
    Iterator.continually(next()).takeWhile(_.isDefined).flatten.toVector
  }
}
