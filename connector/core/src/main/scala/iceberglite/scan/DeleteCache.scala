package iceberglite.scan

import java.util.{LinkedHashMap, Map => JavaMap}
import java.util.concurrent.{ConcurrentHashMap, ExecutionException, FutureTask, ScheduledThreadPoolExecutor, TimeUnit}

import iceberglite.storage.DaemonThreads

/**
 * Limits on the decoded delete files that are kept in memory.
 *
 * @param maxEntryBytes limit for a single file; a larger file is read by each task, and its equality deletes are
 *   spilled to disk
 * @param maxTotalBytes limit for all files; 0 disables the cache
 * @param idleMs an entry that is not used for this time is dropped
 */
final case class DeleteCacheLimits(maxEntryBytes: Long, maxTotalBytes: Long, idleMs: Long)

object DeleteCacheLimits {
  val Default: DeleteCacheLimits = DeleteCacheLimits(64L << 20, 128L << 20, 10L * 60 * 1000)
}

/**
 * A cache of decoded delete files for all tasks of the JVM. Delete files never change. Two tasks that need the same
 * file at the same time read it once. The least recently used entries are dropped first. Each caller passes its own
 * limits.
 *
 * @param nowMs a monotonic clock
 */
final class DeleteCache(nowMs: () => Long = DeleteCache.Uptime) {
  private case class Slot(value: AnyRef, bytes: Long, idleMs: Long, usedMs: Long)
  private val slots = new LinkedHashMap[AnyRef, Slot](16, 0.75f, true)
  private val loading = new ConcurrentHashMap[AnyRef, FutureTask[AnyRef]]
  private var isSweeping = false
  private var total = 0L

  /** Returns an estimate of the heap in use. */
  def bytes: Long = synchronized(total)

  /** Returns a cached or loaded value. @param key identifies the value and its source */
  def valueOf[V <: AnyRef](key: AnyRef, limits: DeleteCacheLimits, weigh: V => Long)(load: => V): V =
    // Safe: all values of a key have the same type.
    lookUp(key).getOrElse(loadOnce(key, limits, (v: AnyRef) => weigh(v.asInstanceOf[V]))(load)).asInstanceOf[V]

  private def loadOnce(key: AnyRef, limits: DeleteCacheLimits, weigh: AnyRef => Long)(load: => AnyRef): AnyRef = {
    // Another thread may have loaded the value since the lookup failed.
    val task = new FutureTask[AnyRef](() => lookUp(key).getOrElse(putAndReturn(key, limits, weigh, load)))
    Option(loading.putIfAbsent(key, task)) match {
      case None =>
        try outcome(runTask(task))
        finally {
          loading.remove(key, task)
          ()
        }
      case Some(other) =>
        // A failure in another task may not occur in this one: that task may have been cancelled.
        try other.get()
        catch { case _: ExecutionException => outcome(runTask(task)) }
    }
  }

  private def putAndReturn(key: AnyRef, limits: DeleteCacheLimits, weigh: AnyRef => Long, value: AnyRef): AnyRef = {
    put(key, value, weigh(value), limits)
    value
  }

  private def runTask(task: FutureTask[AnyRef]): FutureTask[AnyRef] = {
    task.run()
    task
  }

  private def outcome(task: FutureTask[AnyRef]): AnyRef =
    try task.get()
    catch { case e: ExecutionException => throw e.getCause }

  private def lookUp(key: AnyRef): Option[AnyRef] = synchronized {
    dropIdle()
    val found = Option(slots.get(key))
    found.foreach(slot => slots.put(key, slot.copy(usedMs = nowMs())))
    found.map(_.value)
  }

  private def put(key: AnyRef, value: AnyRef, bytes: Long, limits: DeleteCacheLimits): Unit = synchronized {
    dropIdle()
    if (bytes <= limits.maxEntryBytes && bytes <= limits.maxTotalBytes) {
      Option(slots.put(key, Slot(value, bytes, limits.idleMs, nowMs()))).foreach(previous => total -= previous.bytes)
      total += bytes
      if (!isSweeping && limits.idleMs < Long.MaxValue) sweepIn(limits.idleMs)
    }
    drop(_ => total > limits.maxTotalBytes)
  }

  /** Drops entries that have not been used for their idle time. */
  private[scan] def dropIdle(): Unit = synchronized {
    val now = nowMs()
    drop(slot => now - slot.usedMs >= slot.idleMs)
  }

  private def drop(condition: Slot => Boolean): Unit = {
    val eldest: java.util.Iterator[JavaMap.Entry[AnyRef, Slot]] = slots.entrySet.iterator
    while (eldest.hasNext) {
      val slot = eldest.next().getValue
      if (condition(slot)) {
        total -= slot.bytes
        eldest.remove()
      }
    }
  }

  /** Drops idle entries even without further lookups. */
  private def sweepIn(delayMs: Long): Unit = {
    isSweeping = true
    val sweep: Runnable = () =>
      synchronized {
        dropIdle()
        if (slots.isEmpty) isSweeping = false else sweepIn(delayMs)
      }
    DeleteCache.sweeper.schedule(sweep, math.max(1L, delayMs), TimeUnit.MILLISECONDS)
    ()
  }
}

object DeleteCache {
  private val Uptime: () => Long = () => TimeUnit.NANOSECONDS.toMillis(System.nanoTime)

  /** The cache of the JVM. */
  lazy val shared: DeleteCache = new DeleteCache()

  private lazy val sweeper: ScheduledThreadPoolExecutor = {
    val executor = new ScheduledThreadPoolExecutor(1, new DaemonThreads("deletes"))
    executor.setKeepAliveTime(30L, TimeUnit.SECONDS)
    executor.allowCoreThreadTimeOut(true)
    executor
  }
}

/**
 * How readers share decoded delete files.
 *
 * @param cache holds the decoded delete files
 * @param owner part of the cache's keys; it distinguishes storage with other files or other credentials
 * @param spillDirectory directory for keys that do not fit into memory
 */
final case class DeleteSharing(cache: DeleteCache, owner: AnyRef, limits: DeleteCacheLimits, spillDirectory: String)

object DeleteSharing {

  /** Returns a new cache that is used by a single reader. */
  def privateCache: DeleteSharing =
    DeleteSharing(
      new DeleteCache(),
      "",
      DeleteCacheLimits.Default.copy(idleMs = Long.MaxValue),
      System.getProperty("java.io.tmpdir")
    )
}
