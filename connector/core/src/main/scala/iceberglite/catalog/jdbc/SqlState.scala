package iceberglite.catalog.jdbc

import java.net.ConnectException
import java.sql.SQLException

import scala.util.Try

/** Interprets errors of databases. Most drivers report an SQLSTATE; SQLite's driver reports SQLite's own codes. */
private[catalog] object SqlState {

  /** SQLite's result codes for a busy database and for a locked table. */
  private val SqliteBusy = Set(5, 6)

  /** SQLite's result code for a violated constraint. */
  private val SqliteConstraint = 19

  /** SQLite's result code for general errors, such as a missing table. */
  private val SqliteError = 1

  /** PostgreSQL's SQLSTATE if a lock was not available in time. */
  private val Locked = "55P03"

  /** MySQL's error code if a lock was not available in time. MySQL has no specific SQLSTATE for this error. */
  private val MySqlLocked = 1205

  /**
   * The SQLSTATEs after which the outcome of a statement is unknown. The first is defined by the SQL standard. With the
   * others, PostgreSQL reports that the server is shutting down or has crashed.
   */
  private val OutcomeUnknown = Set("40003", "57P01", "57P02")

  /** The SQLSTATEs of PostgreSQL and MySQL if the server is starting, or has reached its maximum connection count. */
  private val Unavailable = Set("57P03", "53300", "08004")

  /** The SQLSTATEs of PostgreSQL, MySQL and Derby if a table or column does not exist. */
  private val Missing = Set("42P01", "42703", "42S02", "42S22", "42X05", "42X04")

  /**
   * Whether the database aborted the statement because of another transaction. The statement had no effect, and a retry
   * may succeed.
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

  /** Whether the server's host refused the connection, for example because the server is still starting. */
  def isRefused(e: SQLException): Boolean =
    Iterator.iterate[Option[Throwable]](Some(e))(_.flatMap(cause => Option(cause.getCause))).take(MaxCauses)
      .takeWhile(_.isDefined).flatten.exists(_.isInstanceOf[ConnectException])

  /** The maximum number of causes that are examined. The number is limited because causes can be circular. */
  private val MaxCauses = 20

  def stateOf(e: SQLException): String = Try(e.getSQLState).toOption.flatMap(Option(_)).getOrElse("")

  private def isSqlite(e: SQLException): Boolean = e.getClass.getName.startsWith("org.sqlite.")
}
