package iceberglite.catalog.hive

import java.util.concurrent.locks.ReentrantLock
import java.util.concurrent.{ConcurrentHashMap, TimeUnit}

/** Locks within this process, one for each table. A thread acquires one before it requests the Metastore's lock. */
private[hive] object TableLocks {
  final private class Turn {
    val lock = new ReentrantLock(true)
    var users = 0
  }

  private val turns = new ConcurrentHashMap[String, Turn]

  /**
   * Runs an operation with the lock of a table.
   *
   * @param key the key of the table, the same in all catalogs
   * @return `None` if the lock was not acquired within `timeoutMs`
   */
  def in[A](key: String, timeoutMs: Long)(body: => A): Option[A] = {
    val turn = enter(key)
    try if (!turn.lock.tryLock(timeoutMs, TimeUnit.MILLISECONDS)) None
      else {
        try Some(body)
        finally turn.lock.unlock()
      }
    finally leave(key)
  }

  private def enter(key: String): Turn = turns.compute(
    key,
    { (_, known) =>
      val turn = Option(known).getOrElse(new Turn)
      turn.users += 1
      turn
    }
  )

  private def leave(key: String): Unit = {
    turns.computeIfPresent(
      key,
      { (_, turn) =>
        turn.users -= 1
        // The map removes the entry for null.
        Some(turn).filter(_.users > 0).orNull
      }
    )
    ()
  }
}
