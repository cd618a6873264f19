package iceberglite.catalog

import java.sql.{Connection, Driver, PreparedStatement, ResultSet, SQLException}
import java.util.{Properties, ServiceConfigurationError, ServiceLoader}

import scala.util.Try
import scala.util.control.NonFatal

import iceberglite.spec.IcebergError.{NotFound, StorageFailed}

/** The connection broke in the middle of a statement: nobody knows whether the database did it. */
final private[catalog] class LostConnection(cause: SQLException) extends Exception(cause)

/**
 * One connection to a catalog's database, made anew when it breaks. Statements are few and short: threads take turns.
 *
 * @param url without user and password it may stand in messages
 */
final private[catalog] class JdbcSession(url: String, properties: Map[String, String]) extends AutoCloseable {
  private lazy val driver = JdbcSession.driver(url)
  private var open: Option[Connection] = None

  /**
   * Runs statements, each of which is a transaction of its own.
   *
   * @throws LostConnection after it nobody knows
   * @throws SQLException the database's own answer: the failed statement did nothing
   */
  def use[A](statements: Connection => A): A = synchronized {
    val connection = connected()
    try statements(connection)
    catch {
      case failure: SQLException if !isAlive(connection) =>
        close()
        throw new LostConnection(failure)
    }
  }

  def update(sql: String, parameters: String*): Int = use(prepared(_, sql, parameters)(_.executeUpdate()))

  def query[A](sql: String, parameters: String*)(row: ResultSet => A): Vector[A] =
    use(prepared(_, sql, parameters) { statement =>
      val results = statement.executeQuery()
      Iterator.continually(results).takeWhile(_.next()).map(row).toVector
    })

  /** Several statements as one transaction. */
  def atomically[A](body: => A): A = use { connection =>
    connection.setAutoCommit(false)
    try {
      val result = body
      connection.commit()
      result
    } catch {
      case e: Throwable =>
        Try(connection.rollback())
        throw e
    } finally connection.setAutoCommit(true)
  }

  /** Runs what only asks, once more where the connection broke; failures in the words of [[StorageFailed]]. */
  def asking[A](what: String)(body: => A): A =
    try {
      try body
      catch { case _: LostConnection => body }
    } catch {
      case failure @ (_: SQLException | _: LostConnection) => throw failed(what, failure)
    }

  def failed(what: String, failure: Throwable): StorageFailed =
    StorageFailed(what, s"in the catalog database $shown", String.valueOf(failure.getMessage), Some(failure))

  override def close(): Unit = synchronized {
    open.foreach(c => Try(c.close()))
    open = None
  }

  private def connected(): Connection = open.getOrElse {
    val chosen = driver
    val settings = new Properties
    (JdbcSession.defaults(url) ++ properties).foreach { case (key, value) => settings.setProperty(key, value) }
    val connection =
      try Option(chosen.connect(url, settings)).getOrElse(throw new SQLException(s"$chosen does not take this URL"))
      catch { case NonFatal(e) => throw failed("connect", e) }
    open = Some(connection)
    connection
  }

  private def prepared[A](connection: Connection, sql: String, parameters: Seq[String])(
      run: PreparedStatement => A
  ): A = {
    val statement = connection.prepareStatement(sql)
    try {
      parameters.zipWithIndex.foreach { case (value, i) => statement.setString(i + 1, value) }
      run(statement)
    } finally statement.close()
  }

  private def isAlive(connection: Connection): Boolean =
    Try(connection.isValid(JdbcSession.AliveSeconds)).getOrElse(false)

  /** Parameters of a URL may hold a password. */
  private def shown: String = url.takeWhile(_ != '?')
}

private[catalog] object JdbcSession {
  private val AliveSeconds = 5

  /** How long a statement waits for another process that is writing to the file. */
  private val SqliteBusyMs = "10000"

  private def isSqlite(url: String): Boolean = url.startsWith("jdbc:sqlite:")

  private def defaults(url: String): Map[String, String] =
    if (isSqlite(url)) Map("busy_timeout" -> SqliteBusyMs) else Map.empty

  /** By URL: the driver's class, and the jar that it comes in. */
  private val known: Seq[(String, String, String)] = Seq(
    ("jdbc:sqlite:", "org.sqlite.JDBC", "org.xerial:sqlite-jdbc"),
    ("jdbc:postgresql:", "org.postgresql.Driver", "org.postgresql:postgresql"),
    ("jdbc:mysql:", "com.mysql.cj.jdbc.Driver", "com.mysql:mysql-connector-j")
  )

  /**
   * The driver that takes a URL. `DriverManager` would not show drivers of jars that were added to a session.
   *
   * @throws NotFound that says which jar is missing
   */
  private def driver(url: String): Driver = {
    val loaders = Seq(Thread.currentThread.getContextClassLoader, getClass.getClassLoader).flatMap(Option(_)).distinct
    val named = known.filter(k => url.startsWith(k._1))
    val byName = for (loader <- loaders; (_, name, _) <- named; driver <- instance(name, loader)) yield driver
    byName.headOption.orElse(loaders.flatMap(registered).find(d => Try(d.acceptsURL(url)).getOrElse(false))).getOrElse {
      val jar = named.headOption.fold("its jar")(k => s"the jar of ${k._3}")
      val how = s"Add $jar to the session, with --jars or spark.jars.packages"
      throw NotFound("JDBC driver", url.takeWhile(_ != '?'), how)
    }
  }

  private def instance(name: String, loader: ClassLoader): Option[Driver] =
    Try(Class.forName(name, true, loader).getDeclaredConstructor().newInstance()).toOption
      .collect { case driver: Driver => driver }

  private def registered(loader: ClassLoader): Vector[Driver] = {
    val drivers = ServiceLoader.load(classOf[Driver], loader).iterator
    // A driver that is listed but cannot be loaded is not the one wanted.
    def next(): Option[Driver] =
      try if (drivers.hasNext) Some(drivers.next()) else None
      catch { case _: ServiceConfigurationError => next() }
    Iterator.continually(next()).takeWhile(_.isDefined).flatten.toVector
  }
}
