package iceberglite.catalog.hive

import java.util.concurrent.Semaphore

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.hive.conf.HiveConf
import org.apache.hadoop.hive.metastore.api.Table
import org.apache.hadoop.hive.metastore.{HiveMetaHook, HiveMetaHookLoader, HiveMetaStoreClient, IMetaStoreClient}
import org.apache.hadoop.security.UserGroupInformation
import org.apache.thrift.TException

import iceberglite.spec.Place
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.storage.StorageErrors
import iceberglite.table.Environment

/**
 * A pool of connections to a Hive Metastore. The connections use Hive's own client, which supports Kerberos, TLS and
 * several servers. Unlike in Hive's retrying client, updates of tables are not retried automatically, because a
 * retried update could undo an update of another writer.
 *
 * @param size maximum number of open connections
 * @param idleMs time after which an unused connection is closed
 */
final private[hive] class HiveConnections(conf: Configuration, size: Int, idleMs: Long, environment: Environment)
    extends AutoCloseable {
  private case class Idle(client: IMetaStoreClient, sinceMs: Long)

  private lazy val hiveConf: HiveConf = {
    val hive = new HiveConf(conf, classOf[HiveConf])
    // Settings of the session take precedence over hive-site.xml on the class path.
    conf.forEach(entry => hive.set(entry.getKey, entry.getValue))
    hive
  }

  private val permits = new Semaphore(size, true)

  /** The unused open connections, the most recently used first. */
  private var idle = List.empty[Idle]
  private var closed = false

  /** The address of the Metastore, for messages. */
  val uri: String = Option(conf.get(HiveConnections.Uris)).filter(_.nonEmpty).getOrElse("in this process")

  /**
   * Runs calls on one connection.
   *
   * @throws TException if Hive's client fails
   * @throws StorageFailed if no connection could be opened. In this case, no call was made
   */
  def use[A](calls: IMetaStoreClient => A): A = {
    permits.acquireUninterruptibly()
    try {
      val client = pollIdle().getOrElse(connect())
      var reusable = false
      try {
        val result = calls(client)
        reusable = true
        result
      } catch {
        case failure: TException =>
          reusable = HiveFailure.isResponse(failure)
          throw failure
      } finally if (reusable) returnToPool(client) else discard(client)
    } finally permits.release()
  }

  /** Runs calls that may be executed twice. If the connection breaks, the calls are retried once. */
  def withRetry[A](calls: IMetaStoreClient => A): A =
    try use(calls)
    catch { case failure: TException if HiveFailure.isConnectionLost(failure) => use(calls) }

  override def close(): Unit = {
    val unused = synchronized {
      closed = true
      val connections = idle
      idle = Nil
      connections
    }
    unused.foreach(i => closeQuietly(i.client))
  }

  private def pollIdle(): Option[IMetaStoreClient] = synchronized {
    val newest = idle.headOption
    idle = idle.drop(1)
    newest.map(_.client)
  }

  private def returnToPool(client: IMetaStoreClient): Unit = {
    val isPooled = synchronized {
      if (!closed) {
        if (idle.isEmpty) HiveTimers.once(idleMs, "close connections to the Hive Metastore")(closeUnused())
        idle ::= Idle(client, environment.nowMs())
      }
      !closed
    }
    if (!isPooled) closeQuietly(client)
  }

  /** Closes a broken connection and all idle connections, because these are probably broken too. */
  private def discard(client: IMetaStoreClient): Unit = {
    val others = synchronized {
      val connections = idle
      idle = Nil
      connections
    }
    (client :: others.map(_.client)).foreach(closeQuietly)
  }

  private def closeUnused(): Unit = {
    val now = environment.nowMs()
    val expired = synchronized {
      val (unused, fresh) = idle.partition(i => now - i.sinceMs >= idleMs)
      idle = fresh
      if (fresh.nonEmpty) HiveTimers.once(idleMs, "close connections to the Hive Metastore")(closeUnused())
      unused
    }
    expired.foreach(i => closeQuietly(i.client))
  }

  private def closeQuietly(client: IMetaStoreClient): Unit = StorageErrors.quietly(client.close())

  private def connect(): IMetaStoreClient =
    try {
      renewTicket()
      new HiveMetaStoreClient(hiveConf, HiveConnections.noHooks, true)
    } catch {
      case e @ (NonFatal(_) | _: LinkageError) =>
        val reason = HiveFailure.text(e).linesIterator.next()
        throw StorageFailed("connect to", Place.HiveMetastore(uri), reason, Some(e))
    }

  /** Renews the Kerberos ticket from the keytab, because the ticket may expire in a long session. */
  private def renewTicket(): Unit =
    if (UserGroupInformation.isSecurityEnabled && UserGroupInformation.isLoginKeytabBased) {
      UserGroupInformation.getLoginUser.checkTGTAndReloginFromKeytab()
    }
}

private[hive] object HiveConnections {
  val Uris = "hive.metastore.uris"

  private val noHooks: HiveMetaHookLoader = (_: Table) => None.orNull[HiveMetaHook]
}
