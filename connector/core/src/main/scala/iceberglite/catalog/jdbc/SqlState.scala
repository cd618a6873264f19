package iceberglite.catalog.jdbc

import java.net.ConnectException
import java.sql.SQLException

import scala.util.Try

/** What a database's refusal means: by SQLSTATE, which standard drivers give, and by SQLite's own codes. */
private[catalog] object SqlState {

  /** SQLite's primary codes: its file is in use by another process, a constraint does not hold, no such table. */
  private val SqliteBusy = Set(5, 6)
  private val SqliteConstraint = 19
  private val SqliteError = 1

  /** PostgreSQL: a lock was not to be had in time. */
  private val Locked = "55P03"

  /** MySQL's number for the same, which comes without a state of its own. */
  private val MySqlLocked = 1205

  /** Statement completion unknown (standard); the server goes down, went down (PostgreSQL). */
  private val Unclear = Set("40003", "57P01", "57P02")

  /** A server comes up, or has as many connections as it can have (PostgreSQL, MySQL). */
  private val NotNow = Set("57P03", "53300", "08004")

  /** No such table or column: PostgreSQL, MySQL, Derby. */
  private val Missing = Set("42P01", "42703", "42S02", "42S22", "42X05", "42X04")

  /** The database gave way to another transaction: nothing was done, and trying again may help. */
  def isBusy(e: SQLException): Boolean =
    if (isSqlite(e)) SqliteBusy(e.getErrorCode & 0xff)
    else of(e).startsWith("40") && !Unclear(of(e)) || of(e) == Locked || e.getErrorCode == MySqlLocked

  def isDuplicate(e: SQLException): Boolean =
    if (isSqlite(e)) (e.getErrorCode & 0xff) == SqliteConstraint else of(e).startsWith("23")

  /** A value is longer than its column. */
  def isTooLong(e: SQLException): Boolean = of(e) == "22001"

  def isMissing(e: SQLException): Boolean = if (isSqlite(e)) e.getErrorCode == SqliteError else Missing(of(e))

  /** The connection is of no use any more, and nobody knows what became of the statement. */
  def isLost(e: SQLException): Boolean = of(e).startsWith("08") || Unclear(of(e))

  /** A connection is refused now, and will not be soon. */
  def isNotNow(e: SQLException): Boolean = NotNow(of(e))

  /** Nothing listens at the server's address: it may be starting. */
  def isRefused(e: SQLException): Boolean =
    Iterator.iterate[Option[Throwable]](Some(e))(_.flatMap(cause => Option(cause.getCause))).take(MaxCauses)
      .takeWhile(_.isDefined).flatten.exists(_.isInstanceOf[ConnectException])

  /** Causes can be a circle. */
  private val MaxCauses = 20

  def of(e: SQLException): String = Try(e.getSQLState).toOption.flatMap(Option(_)).getOrElse("")

  private def isSqlite(e: SQLException): Boolean = e.getClass.getName.startsWith("org.sqlite.")
}
