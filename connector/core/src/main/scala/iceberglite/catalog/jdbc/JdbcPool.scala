package iceberglite.catalog.jdbc

import java.sql.{Connection, ResultSet, SQLException}
import java.util.Properties
import java.util.concurrent.{ConcurrentLinkedDeque, Semaphore}

import scala.annotation.tailrec
import scala.util.control.NonFatal
import scala.util.{Failure, Success, Try}

import iceberglite.spec.Place
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.storage.StorageErrors
import iceberglite.table.{Environment, RetryPolicy}

/** The connection broke during a statement, so it is unknown whether the database executed the statement. */
final private[catalog] class LostConnection(cause: SQLException) extends Exception(cause)

/** No connection could be opened, so nothing was executed. @param isTransient whether the reason may be temporary */
final private[catalog] class NoConnection(cause: Throwable, val isTransient: Boolean) extends Exception(cause)

/**
 * A pool of connections to a catalog's database. Connections are opened on demand, up to a limit, and replaced if they
 * break. A small pool is sufficient, because a catalog runs few and short statements.
 *
 * @param connectionLostStates SQLSTATEs that indicate a lost connection, in addition to the standard SQLSTATEs
 */
final private[catalog] class JdbcPool(
    url: JdbcUrl,
    maxConnections: Int,
    connectionLostStates: Set[String],
    environment: Environment
) extends AutoCloseable {
  private lazy val driver = JdbcDrivers.driver(url)

  // A second connection to a SQLite file would only wait for the first one. A second connection to an in-memory
  // database would open another database.
  private val permits = new Semaphore(if (url.isSqlite) 1 else maxConnections)
  private val idle = new ConcurrentLinkedDeque[Connection]
  @volatile private var hasConnected = false
  @volatile private var closed = false

  /** The URL without secrets, for messages. */
  override def toString: String = url.toString

  def update(sql: String, parameters: String*): Int = use(_.update(sql, parameters: _*))

  def query[A](sql: String, parameters: String*)(row: ResultSet => A): Vector[A] = use(_.query(sql, parameters)(row))

  /** Runs several statements in one transaction. */
  def inTransaction[A](body: JdbcStatements => A): A = use { statements =>
    val connection = statements.connection
    connection.setAutoCommit(false)
    try {
      val result = body(statements)
      connection.commit()
      result
    } catch {
      case e: Throwable =>
        StorageErrors.quietly(connection.rollback())
        throw e
    } finally connection.setAutoCommit(true)
  }

  /**
   * Runs statements on one connection. Unless auto-commit is turned off, each statement is a separate transaction.
   *
   * @throws LostConnection if the connection broke. The outcome of the last statement is then unknown
   * @throws NoConnection if no connection could be opened. No statement was executed
   * @throws SQLException if the database reported an error; the failed statement had no effect
   */
  private def use[A](statements: JdbcStatements => A): A = {
    // The wait for a connection ignores interrupts, so that the outcome of the operation is known.
    permits.acquireUninterruptibly()
    try {
      val connection = Option(idle.pollFirst()).getOrElse(connect())
      try {
        val result = statements(new JdbcStatements(connection))
        returnToPool(connection)
        result
      } catch { case failure: Throwable => throw convertFailure(failure, connection) }
    } finally permits.release()
  }

  private def convertFailure(failure: Throwable, connection: Connection): Throwable = failure match {
    case error: SQLException if isConnectionLost(error) || !isAlive(connection) =>
      StorageErrors.quietly(connection.close())
      // The unused connections are probably broken too.
      discardIdle()
      new LostConnection(url.redacted(error))
    case error: SQLException =>
      returnToPool(connection)
      url.redacted(error)
    case other =>
      StorageErrors.quietly(connection.close())
      other
  }

  /**
   * Runs an operation. If the connection breaks, the operation is retried immediately. If the connection breaks again,
   * or the server is unavailable or busy, the operation is retried with pauses for a limited time.
   *
   * @param what the operation, for the message
   * @param idempotent whether the operation may be executed twice; if not, it is not retried if the outcome of an
   *   attempt is unknown
   * @throws StorageFailed if all retries failed, or the database rejected the operation
   */
  def withRetries[A](what: String, idempotent: Boolean = true)(body: => A): A = {
    lazy val retryPolicy = new RetryPolicy(
      JdbcPool.MaxRetries,
      JdbcPool.MinWaitMs,
      JdbcPool.MaxWaitMs,
      JdbcPool.TotalMs,
      environment
    )
    @tailrec
    def attempt(isRetry: Boolean): A =
      Try(body) match {
        case Success(result) => result
        case Failure(failure) =>
          val outcomeUnknown = failure.isInstanceOf[LostConnection]
          val retryImmediately = outcomeUnknown && idempotent && !isRetry
          if (retryImmediately || isTransient(failure) && (idempotent || !outcomeUnknown) && waitForRetry(retryPolicy))
            attempt(isRetry = true)
          else throw toIcebergError(what, failure)
      }
    attempt(isRetry = false)
  }

  /** Waits for a limited time until a connection can be opened. */
  def awaitServer(): Unit = withRetries("connect")(use(_ => ()))

  private def isTransient(failure: Throwable): Boolean = failure match {
    case _: LostConnection => true
    case failure: NoConnection => failure.isTransient
    case error: SQLException => SqlState.isBusy(error)
    case _ => false
  }

  private def waitForRetry(retryPolicy: RetryPolicy): Boolean =
    try retryPolicy.waitForNext()
    catch {
      case _: InterruptedException =>
        Thread.currentThread.interrupt()
        false
    }

  /** Converts a failure of the database to [[StorageFailed]]; other failures are returned unchanged. */
  def toIcebergError(what: String, failure: Throwable): Throwable = failure match {
    case _: SQLException | _: LostConnection | _: NoConnection =>
      val origin = Option(failure.getCause).filter(_ => !failure.isInstanceOf[SQLException]).getOrElse(failure)
      val message = Option(origin.getMessage).getOrElse(origin.toString)
      StorageFailed(s"$what in", Place.CatalogDatabase(url.toString), message, Some(origin))
    case other => other
  }

  override def close(): Unit = {
    closed = true
    discardIdle()
  }

  /**
   * Returns a connection to the pool. A connection with an open transaction is closed instead, because later statements
   * would run in that transaction and would not be committed.
   */
  private def returnToPool(connection: Connection): Unit = {
    if (Try(connection.getAutoCommit).getOrElse(false)) idle.addFirst(connection)
    else StorageErrors.quietly(connection.close())
    if (closed) discardIdle()
  }

  @tailrec
  private def discardIdle(): Unit = Option(idle.pollFirst()) match {
    case Some(connection) =>
      StorageErrors.quietly(connection.close())
      discardIdle()
    case None => ()
  }

  private def connect(): Connection = {
    val jdbcDriver = driver
    val properties = new Properties
    url.settings(JdbcDrivers.defaults(url)).foreach { case (key, value) => properties.setProperty(key, value) }
    try {
      val connection = Option(jdbcDriver.connect(url.text, properties))
        .getOrElse(throw new SQLException(s"${jdbcDriver.getClass.getName} does not accept this URL"))
      hasConnected = true
      connection
    } catch {
      case e: SQLException =>
        throw new NoConnection(url.redacted(e), hasConnected || SqlState.isUnavailable(e) || SqlState.isRefused(e))
      case NonFatal(e) => throw new NoConnection(url.redacted(new SQLException(e.toString, e)), isTransient = false)
    }
  }

  private def isConnectionLost(error: SQLException): Boolean =
    SqlState.isConnectionLost(error) || connectionLostStates(SqlState.stateOf(error))

  private def isAlive(connection: Connection): Boolean =
    Try(connection.isValid(JdbcPool.AliveSeconds)).getOrElse(false)
}

private[catalog] object JdbcPool {
  private val AliveSeconds = 5

  /** The number of retries is not limited. The limit for their total time is long enough for a server to restart. */
  private val MaxRetries = Int.MaxValue
  private val MinWaitMs = 100L
  private val MaxWaitMs = 2000L
  private val TotalMs = 10000L
}
