package iceberglite.catalog.hive

import java.util.concurrent.Semaphore

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.hive.conf.HiveConf
import org.apache.hadoop.hive.metastore.api.Table
import org.apache.hadoop.hive.metastore.{HiveMetaHook, HiveMetaHookLoader, HiveMetaStoreClient, IMetaStoreClient}
import org.apache.hadoop.security.UserGroupInformation
import org.apache.thrift.TException

import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.table.Environment

/**
 * Connections to a Hive Metastore, by Hive's own client: Kerberos, TLS and several servers are its business. Calls are
 * made once, other than by Hive's retrying client: a change that is made a second time could undo somebody else's.
 *
 * @param size how many connections are open at most
 * @param idleMs when one that nobody uses is closed
 */
final private[hive] class HiveConnections(conf: Configuration, size: Int, idleMs: Long, environment: Environment)
    extends AutoCloseable {
  private case class Idle(client: IMetaStoreClient, sinceMs: Long)

  private lazy val hiveConf: HiveConf = {
    val hive = new HiveConf(conf, classOf[HiveConf])
    // What hive-site.xml on the class path says counts less than what the session says.
    conf.forEach(entry => hive.set(entry.getKey, entry.getValue))
    hive
  }

  private val permits = new Semaphore(size, true)

  /** The one that was used last comes first. */
  private var idle = List.empty[Idle]
  private var closed = false

  /** For messages. */
  val uri: String = Option(conf.get(HiveConnections.Uris)).filter(_.nonEmpty).getOrElse("in this process")

  /**
   * Makes calls on one connection.
   *
   * @throws TException as Hive's client throws it
   * @throws StorageFailed there is no connection, and nothing was asked
   */
  def use[A](calls: IMetaStoreClient => A): A = {
    permits.acquireUninterruptibly()
    try {
      val client = take().getOrElse(connect())
      var whole = false
      try {
        val result = calls(client)
        whole = true
        result
      } catch {
        case failure: TException =>
          whole = HiveFailure.isAnswer(failure)
          throw failure
      } finally if (whole) giveBack(client) else drop(client)
    } finally permits.release()
  }

  /** Makes calls that only ask, or may be made twice: once more where the connection broke. */
  def repeating[A](calls: IMetaStoreClient => A): A =
    try use(calls)
    catch { case failure: TException if HiveFailure.isLost(failure) => use(calls) }

  override def close(): Unit = {
    val unused = synchronized {
      closed = true
      val all = idle
      idle = Nil
      all
    }
    unused.foreach(i => end(i.client))
  }

  private def take(): Option[IMetaStoreClient] = synchronized {
    val last = idle.headOption
    idle = idle.drop(1)
    last.map(_.client)
  }

  private def giveBack(client: IMetaStoreClient): Unit = {
    val kept = synchronized {
      if (!closed) {
        if (idle.isEmpty) HiveTimers.once(idleMs, "close connections to the Hive Metastore")(closeUnused())
        idle ::= Idle(client, environment.nowMs())
      }
      !closed
    }
    if (!kept) end(client)
  }

  /** What broke one connection broke those too that wait. */
  private def drop(client: IMetaStoreClient): Unit = {
    val others = synchronized {
      val all = idle
      idle = Nil
      all
    }
    (client :: others.map(_.client)).foreach(end)
  }

  private def closeUnused(): Unit = {
    val now = environment.nowMs()
    val old = synchronized {
      val (unused, fresh) = idle.partition(i => now - i.sinceMs >= idleMs)
      idle = fresh
      if (fresh.nonEmpty) HiveTimers.once(idleMs, "close connections to the Hive Metastore")(closeUnused())
      unused
    }
    old.foreach(i => end(i.client))
  }

  private def end(client: IMetaStoreClient): Unit = {
    Try(client.close())
    ()
  }

  private def connect(): IMetaStoreClient =
    try {
      renewTicket()
      new HiveMetaStoreClient(hiveConf, HiveConnections.noHooks, true)
    } catch {
      case e @ (NonFatal(_) | _: LinkageError) =>
        throw StorageFailed("connect to", s"the Hive Metastore $uri", HiveFailure.text(e).linesIterator.next(), Some(e))
    }

  /** A session that outlives its Kerberos ticket has one made of its key table. */
  private def renewTicket(): Unit =
    if (UserGroupInformation.isSecurityEnabled && UserGroupInformation.isLoginKeytabBased) {
      UserGroupInformation.getLoginUser.checkTGTAndReloginFromKeytab()
    }
}

private[hive] object HiveConnections {
  val Uris = "hive.metastore.uris"

  private val noHooks: HiveMetaHookLoader = (_: Table) => None.orNull[HiveMetaHook]
}
