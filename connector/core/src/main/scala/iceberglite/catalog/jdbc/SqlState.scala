package iceberglite.catalog.jdbc

import java.net.ConnectException
import java.sql.SQLException

import scala.util.Try

/** Interprets errors of databases: by SQLSTATE, which standard drivers provide, and by SQLite's own codes. */
private[catalog] object SqlState {

  /**
   * SQLite's primary result codes: the database is busy or locked, a constraint is violated, or a general error such as
   * a missing table.
   */
  private val SqliteBusy = Set(5, 6)
  private val SqliteConstraint = 19
  private val SqliteError = 1

  /** PostgreSQL: a lock was not available in time. */
  private val Locked = "55P03"

  /** MySQL's code for the same error, which has no specific SQLSTATE. */
  private val MySqlLocked = 1205

  /** Statement completion unknown (standard); the server is shutting down, or was shut down (PostgreSQL). */
  private val OutcomeUnknown = Set("40003", "57P01", "57P02")

  /** The server is starting, or has reached its maximum number of connections (PostgreSQL, MySQL). */
  private val Unavailable = Set("57P03", "53300", "08004")

  /** The table or column does not exist: PostgreSQL, MySQL, Derby. */
  private val Missing = Set("42P01", "42703", "42S02", "42S22", "42X05", "42X04")

  /**
   * Whether the database aborted the statement in favor of another transaction: nothing was done, and a retry may
   * succeed.
   */
  def isBusy(e: SQLException): Boolean =
    if (isSqlite(e)) SqliteBusy(e.getErrorCode & 0xff)
    else {
      val state = stateOf(e)
      state.startsWith("40") && !OutcomeUnknown(state) || state == Locked || e.getErrorCode == MySqlLocked
    }

  def isDuplicate(e: SQLException): Boolean =
    if (isSqlite(e)) (e.getErrorCode & 0xff) == SqliteConstraint else stateOf(e).startsWith("23")

  /** Whether a value is longer than its column. */
  def isTooLong(e: SQLException): Boolean = stateOf(e) == "22001"

  def isMissing(e: SQLException): Boolean = if (isSqlite(e)) e.getErrorCode == SqliteError else Missing(stateOf(e))

  /** Whether the connection is broken, and the outcome of the statement is unknown. */
  def isConnectionLost(e: SQLException): Boolean = stateOf(e).startsWith("08") || OutcomeUnknown(stateOf(e))

  /** Whether the server cannot accept a connection at the moment. */
  def isUnavailable(e: SQLException): Boolean = Unavailable(stateOf(e))

  /** Whether nothing listens at the server's address. The server may be starting. */
  def isRefused(e: SQLException): Boolean =
    Iterator.iterate[Option[Throwable]](Some(e))(_.flatMap(cause => Option(cause.getCause))).take(MaxCauses)
      .takeWhile(_.isDefined).flatten.exists(_.isInstanceOf[ConnectException])

  /** Limits the search for causes, which can be circular. */
  private val MaxCauses = 20

  def stateOf(e: SQLException): String = Try(e.getSQLState).toOption.flatMap(Option(_)).getOrElse("")

  private def isSqlite(e: SQLException): Boolean = e.getClass.getName.startsWith("org.sqlite.")
}
