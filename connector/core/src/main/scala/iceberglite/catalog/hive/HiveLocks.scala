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

import iceberglite.spec.IcebergError.{StorageFailed, Unsupported}
import iceberglite.table.{Cleanup, Environment, RetryPolicy}

/** The Metastore's exclusive locks on tables, which serialize the writers of all engines. */
final private[hive] class HiveLocks(
    connections: HiveConnections,
    settings: HiveSettings,
    environment: Environment
) {
  import HiveLocks._

  /**
   * Runs an operation with a lock on a table, and always releases the lock.
   *
   * @param name the name of the table, for messages
   * @return the reason why there was no lock, in which case nothing was run; or the result
   * @throws StorageFailed the thread was interrupted while it waited, or there is no connection; nothing was run
   * @throws Unsupported the Metastore does not support locks
   */
  def holding[A](database: String, table: String, name: String)(body: HeldLock => A): Either[String, A] = {
    val key = Seq(connections.uri, database, table).mkString(" ").toLowerCase(Locale.ROOT)
    var running = false
    def run(lock: HeldLock): A = {
      running = true
      body(lock)
    }
    try TableLocks.in(key, settings.acquire.timeoutMs)(new Request(database, table, name).holding(run))
        .getOrElse(Left(s"another thread of this process held it for ${settings.acquire.timeoutMs} ms"))
    catch {
      case interrupted: InterruptedException if !running =>
        Thread.currentThread.interrupt()
        throw StorageFailed("lock", name, "the thread was interrupted while it waited for the lock", Some(interrupted))
    }
  }

  /** A lock from its request to its release. The `agent` identifies the request even if the response was lost. */
  final private class Request(database: String, table: String, name: String) {
    private val agent = s"Iceberg-${environment.uuid()}"

    def holding[A](body: HeldLock => A): Either[String, A] =
      request(settings.request.begin(environment)).right.flatMap { case (id, state) =>
        try acquired(id, state, settings.acquire.begin(environment)).right.map(_ => beating(id)(body))
        finally Cleanup.quietly(s"unlock $name")(unlock(id))
      }

    private def beating[A](id: Long)(body: HeldLock => A): A = {
      val lock = new HeldLock(id, connections, environment)
      val beats = HiveTimers.every(settings.heartbeatMs, s"renew the lock on $name")(lock.beat())
      try body(lock)
      finally beats.cancel(false)
    }

    @tailrec
    private def request(patience: RetryPolicy): Either[String, (Long, LockState)] = asked() match {
      case Answered(result) => result
      case Unheard(failure) =>
        Try(find()).toOption.flatten match {
          case Some(found) => Right(found)
          case None if patience.waitForNext() => request(patience)
          case None => Left(s"the lock was requested, but no response came (${HiveFailure.text(failure)})")
        }
    }

    private def asked(): Asked =
      try {
        val answer = connections.use(_.lock(wanted))
        Answered(Right(answer.getLockid -> answer.getState))
      } catch {
        case failure: TException if HiveFailure.isLost(failure) => Unheard(failure)
        case refused: TException => Answered(Left(s"the lock was refused (${explained(refused)})"))
      }

    @tailrec
    private def acquired(id: Long, state: LockState, patience: RetryPolicy): Either[String, Unit] =
      state match {
        case LockState.ACQUIRED => Right(())
        case LockState.WAITING =>
          if (!patience.waitForNext()) Left(s"other writers held its lock for ${settings.acquire.timeoutMs} ms")
          else check(id) match {
            case Right(next) => acquired(id, next, patience)
            case Left(reason) => Left(reason)
          }
        case other => Left(s"the request for its lock ended in the state $other")
      }

    private def check(id: Long): Either[String, LockState] =
      try Right(connections.repeating(_.checkLock(id)).getState)
      catch { case failure: TException => Left(s"waiting for its lock failed (${HiveFailure.text(failure)})") }

    private def unlock(id: Long): Unit = connections.repeating(_.unlock(id))

    private def wanted: LockRequest = {
      val component = new LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, database)
      component.setTablename(table)
      component.setOperationType(DataOperationType.NO_TXN)
      val host = Try(InetAddress.getLocalHost.getHostName).getOrElse("unknown host")
      val user = UserGroupInformation.getCurrentUser.getShortUserName
      val request = new LockRequest(Collections.singletonList(component), user, host)
      request.setAgentInfo(agent)
      request
    }

    /** Finds a request whose response was lost: it may wait on the server and block other writers. */
    private def find(): Option[(Long, LockState)] = {
      val question = new ShowLocksRequest
      question.setDbname(database)
      question.setTablename(table)
      val locks = connections.repeating(_.showLocks(question)).getLocks.asScala
      locks.find(_.getAgentInfo == agent).map(lock => lock.getLockid -> lock.getState)
    }
  }
}

private[hive] object HiveLocks {
  sealed private trait Asked
  final private case class Answered(result: Either[String, (Long, LockState)]) extends Asked
  final private case class Unheard(failure: TException) extends Asked

  /** The error of a Metastore without transaction tables, for any database. */
  private val NoTable = "HIVE_LOCKS"

  private def explained(refused: TException): String = {
    val text = HiveFailure.text(refused)
    if (text.contains(NoTable)) throw Unsupported(
      s"the lock of this Hive Metastore, whose database lacks the table $NoTable ($text)",
      "Create the tables for transactions with Hive's schematool, or use a Metastore that has them"
    )
    text
  }
}

/** An acquired lock. Its expiration is detected by asking the server: a process that is suspended too long loses it. */
final private[hive] class HeldLock(id: Long, connections: HiveConnections, environment: Environment) {
  import HeldLock._

  @volatile private var confirmedMs = environment.nowMs()
  @volatile private var lost = Option.empty[String]

  /** Renews the lock, and detects its loss. */
  def beat(): Unit =
    try {
      connections.repeating(_.heartbeat(NoTransaction, id))
      confirmedMs = environment.nowMs()
    } catch {
      case answer: TException if HiveFailure.isAnswer(answer) => lost = Some(HiveFailure.text(answer))
    }

  /** Returns why the lock may be lost. Asks the server if its last response is too old. */
  def doubt(): Option[String] = {
    val age = environment.nowMs() - confirmedMs
    if (lost.isDefined || age >= 0 && age < FreshMs) lost
    else
      try {
        beat()
        lost
      } catch { case failure @ (_: TException | _: StorageFailed) => Some(HiveFailure.text(failure)) }
  }
}

private[hive] object HeldLock {
  private val NoTransaction = 0L

  /** Shorter than the lock timeout of any Metastore. */
  private val FreshMs = 2000L
}
