package iceberglite.catalog.hive

import java.util.concurrent.locks.ReentrantLock
import java.util.concurrent.{ConcurrentHashMap, TimeUnit}

/**
 * Locks within this process, one for each table. A thread acquires the table's lock before it requests the Metastore's
 * lock, so that threads of one process do not compete in the Metastore.
 */
private[hive] object TableLocks {
  final private class TableLock {
    val lock = new ReentrantLock(true)
    var users = 0
  }

  private val locks = new ConcurrentHashMap[String, TableLock]

  /**
   * Runs an operation with the lock of a table.
   *
   * @param key identifies the table in the Metastore. All catalogs that access the table must use the same key
   * @return `None` if the lock was not acquired within `timeoutMs`
   */
  def withLock[A](key: String, timeoutMs: Long)(body: => A): Option[A] = {
    val tableLock = acquireEntry(key)
    try if (!tableLock.lock.tryLock(timeoutMs, TimeUnit.MILLISECONDS)) None
      else {
        try Some(body)
        finally tableLock.lock.unlock()
      }
    finally releaseEntry(key)
  }

  private def acquireEntry(key: String): TableLock = locks.compute(
    key,
    { (_, known) =>
      val tableLock = Option(known).getOrElse(new TableLock)
      tableLock.users += 1
      tableLock
    }
  )

  private def releaseEntry(key: String): Unit = {
    locks.computeIfPresent(
      key,
      { (_, tableLock) =>
        tableLock.users -= 1
        // The map removes the entry if this function returns null.
        Some(tableLock).filter(_.users > 0).orNull
      }
    )
    ()
  }
}
