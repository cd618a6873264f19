package iceberglite.catalog.hive

import java.net.InetAddress
import java.util.{Collections, Locale}

import scala.annotation.tailrec
import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.hadoop.hive.metastore.api.{
  DataOperationType,
  LockComponent,
  LockLevel,
  LockRequest,
  LockState,
  LockType,
  ShowLocksRequest
}
import org.apache.hadoop.security.UserGroupInformation
import org.apache.thrift.TException

import iceberglite.spec.Place
import iceberglite.spec.IcebergError.{StorageFailed, Unsupported}
import iceberglite.table.{Cleanup, Environment, RetryPolicy}

/**
 * The Metastore's exclusive locks on tables. They ensure that only one writer commits to a table at a time, even if the
 * writers are different engines.
 */
final private[hive] class HiveLocks(
    connections: HiveConnections,
    settings: HiveSettings,
    environment: Environment
) {
  import HiveLocks._

  /**
   * Runs an operation with a lock on a table, and then releases the lock, even if the operation fails.
   *
   * @param name the name of the table, for messages
   * @return the result of `body`. If the lock was not acquired, `body` did not run, and the reason is returned as
   *   `Left`
   * @throws StorageFailed if the thread was interrupted while it waited for the lock, or no connection could be opened.
   *   In both cases, `body` did not run
   * @throws Unsupported if the Metastore does not support locks
   */
  def withLock[A](database: String, table: String, name: String)(body: AcquiredLock => A): Either[String, A] = {
    val key = Seq(connections.uri, database, table).mkString(" ").toLowerCase(Locale.ROOT)
    var running = false
    def run(lock: AcquiredLock): A = {
      running = true
      body(lock)
    }
    try TableLocks.withLock(key, settings.acquire.timeoutMs)(new LockSession(database, table, name).withLock(run))
        .getOrElse(Left(s"another thread of this process held the lock for ${settings.acquire.timeoutMs} ms"))
    catch {
      case interrupted: InterruptedException if !running =>
        Thread.currentThread.interrupt()
        val reason = "the thread was interrupted while it waited for the lock"
        throw StorageFailed("lock", Place.CatalogObject(name), reason, Some(interrupted))
    }
  }

  /**
   * One lock, from its request to its release. If the response to the request is lost, `agent` identifies the lock on
   * the server.
   */
  final private class LockSession(database: String, table: String, name: String) {
    private val agent = s"Iceberg-${environment.uuid()}"

    def withLock[A](body: AcquiredLock => A): Either[String, A] =
      requestLock(settings.request.newPolicy(environment)).flatMap { case (id, state) =>
        try awaitAcquired(id, state, settings.acquire.newPolicy(environment)).map(_ => withHeartbeats(id)(body))
        finally Cleanup.quietly(s"unlock $name")(unlock(id))
      }

    private def withHeartbeats[A](id: Long)(body: AcquiredLock => A): A = {
      val lock = new AcquiredLock(id, connections, environment)
      val heartbeats = HiveTimers.every(settings.heartbeatMs, s"renew the lock on $name")(lock.heartbeat())
      try body(lock)
      finally heartbeats.cancel(false)
    }

    @tailrec
    private def requestLock(retryPolicy: RetryPolicy): Either[String, (Long, LockState)] = requestOnce() match {
      case Responded(result) => result
      case NoResponse(failure) =>
        Try(findLock()).toOption.flatten match {
          case Some(found) => Right(found)
          case None if retryPolicy.waitForNext() => requestLock(retryPolicy)
          case None => Left(s"the lock was requested, but no response came (${HiveFailure.text(failure)})")
        }
    }

    private def requestOnce(): LockResponse =
      try {
        val response = connections.use(_.lock(lockRequest))
        Responded(Right(response.getLockid -> response.getState))
      } catch {
        case failure: TException if HiveFailure.isConnectionLost(failure) => NoResponse(failure)
        case error: TException => Responded(Left(s"the lock was refused (${refusalReason(error)})"))
      }

    @tailrec
    private def awaitAcquired(id: Long, state: LockState, retryPolicy: RetryPolicy): Either[String, Unit] =
      state match {
        case LockState.ACQUIRED => Right(())
        case LockState.WAITING =>
          if (!retryPolicy.waitForNext()) Left(s"other writers held the lock for ${settings.acquire.timeoutMs} ms")
          else queryState(id) match {
            case Right(next) => awaitAcquired(id, next, retryPolicy)
            case Left(reason) => Left(reason)
          }
        case other => Left(s"the request for the lock ended in the state $other")
      }

    private def queryState(id: Long): Either[String, LockState] =
      try Right(connections.withRetry(_.checkLock(id)).getState)
      catch { case failure: TException => Left(s"waiting for the lock failed (${HiveFailure.text(failure)})") }

    private def unlock(id: Long): Unit = connections.withRetry(_.unlock(id))

    private def lockRequest: LockRequest = {
      val component = new LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, database)
      component.setTablename(table)
      component.setOperationType(DataOperationType.NO_TXN)
      val host = Try(InetAddress.getLocalHost.getHostName).getOrElse("unknown host")
      val user = UserGroupInformation.getCurrentUser.getShortUserName
      val request = new LockRequest(Collections.singletonList(component), user, host)
      request.setAgentInfo(agent)
      request
    }

    /**
     * Finds the lock on the server after the response to the request was lost. Without its id, the lock could not be
     * released and would block other writers.
     */
    private def findLock(): Option[(Long, LockState)] = {
      val filter = new ShowLocksRequest
      filter.setDbname(database)
      filter.setTablename(table)
      val locks = connections.withRetry(_.showLocks(filter)).getLocks.asScala
      locks.find(_.getAgentInfo == agent).map(lock => lock.getLockid -> lock.getState)
    }
  }
}

private[hive] object HiveLocks {
  sealed private trait LockResponse
  final private case class Responded(result: Either[String, (Long, LockState)]) extends LockResponse
  final private case class NoResponse(failure: TException) extends LockResponse

  /**
   * The name of the lock table. If the backend database of a Metastore lacks the transaction tables, the error message
   * contains this name. This is true for all types of backend databases.
   */
  private val LockTable = "HIVE_LOCKS"

  /** Returns the reason why the server refused a lock. @throws Unsupported if the Metastore has no lock table */
  private def refusalReason(error: TException): String = {
    val text = HiveFailure.text(error)
    if (text.contains(LockTable)) throw Unsupported(
      s"the lock of this Hive Metastore, whose database lacks the table $LockTable ($text)",
      "Create the tables for transactions with Hive's schematool, or use a Metastore that has these tables"
    )
    text
  }
}

/**
 * An acquired lock. If this process does not renew the lock in time, for example because the process was suspended, the
 * server drops the lock. The response to the next heartbeat request then reports the loss.
 */
final private[hive] class AcquiredLock(id: Long, connections: HiveConnections, environment: Environment) {
  import AcquiredLock._

  @volatile private var confirmedMs = environment.nowMs()
  @volatile private var confirmedLoss = Option.empty[String]

  /** Renews the lock, and detects its loss. */
  def heartbeat(): Unit =
    try {
      connections.withRetry(_.heartbeat(NoTransaction, id))
      confirmedMs = environment.nowMs()
    } catch {
      case error: TException if HiveFailure.isResponse(error) => confirmedLoss = Some(HiveFailure.text(error))
    }

  /**
   * Returns the reason why the lock may be lost; `None` if the lock is held. Sends a heartbeat if the server's last
   * confirmation of the lock is too old.
   */
  def lossReason(): Option[String] = {
    val age = environment.nowMs() - confirmedMs
    if (confirmedLoss.isDefined || age >= 0 && age < FreshMs) confirmedLoss
    else
      try {
        heartbeat()
        confirmedLoss
      } catch { case failure @ (_: TException | _: StorageFailed) => Some(HiveFailure.text(failure)) }
  }
}

private[hive] object AcquiredLock {
  private val NoTransaction = 0L

  /**
   * The time in milliseconds for which a confirmation of the lock is valid. It is much shorter than the default lock
   * timeout of a Metastore, which is five minutes.
   */
  private val FreshMs = 2000L
}
