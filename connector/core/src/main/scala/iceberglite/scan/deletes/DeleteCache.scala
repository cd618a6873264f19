package iceberglite.scan.deletes

import java.util.concurrent.{ConcurrentHashMap, ExecutionException, FutureTask}
import java.util.concurrent.atomic.AtomicBoolean

import iceberglite.storage.{BackgroundWork, LruCache}

/**
 * A cache of decoded delete files for all tasks of the JVM. Cached values never become outdated, because delete files
 * are immutable. If several tasks request the same file concurrently, it is read once. The least recently used entries
 * are dropped first. Each caller passes its own limits.
 *
 * @param nowMs a monotonic clock, in milliseconds
 */
final class DeleteCache(nowMs: () => Long = LruCache.Uptime) {
  private val values = new LruCache[AnyRef, AnyRef](nowMs)
  private val loading = new ConcurrentHashMap[AnyRef, FutureTask[AnyRef]]
  private val isSweeping = new AtomicBoolean

  /** Returns the estimated heap size of the cached values, in bytes. */
  def bytes: Long = values.bytes

  /**
   * Returns the cached value of a key. If there is none, the value is loaded and cached.
   *
   * @param weigh returns the heap size of a value in bytes
   */
  def valueOf[V <: AnyRef](key: AnyRef, limits: LruCache.Limits, weigh: V => Long)(load: => V): V =
    // The cast is safe, because all values of a key have the same type.
    values.get(key).getOrElse(loadOnce(key, limits, (v: AnyRef) => weigh(v.asInstanceOf[V]))(load)).asInstanceOf[V]

  private def loadOnce(key: AnyRef, limits: LruCache.Limits, weigh: AnyRef => Long)(load: => AnyRef): AnyRef = {
    // Another thread may have loaded the value since the lookup failed.
    val task = new FutureTask[AnyRef](() => values.get(key).getOrElse(putAndReturn(key, limits, weigh, load)))
    Option(loading.putIfAbsent(key, task)) match {
      case None =>
        try outcome(runTask(task))
        finally {
          loading.remove(key, task)
          ()
        }
      case Some(other) =>
        // This task repeats the load, because the load may have failed only in the other task, for example if that task
        // was cancelled.
        try other.get()
        catch { case _: ExecutionException => outcome(runTask(task)) }
    }
  }

  private def putAndReturn(key: AnyRef, limits: LruCache.Limits, weigh: AnyRef => Long, value: AnyRef): AnyRef = {
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

  /**
   * Adds a value. If the limits have an idle time, a background thread drops the value when it has not been used for
   * this time, because executors share their memory between jobs.
   */
  private def put(key: AnyRef, value: AnyRef, bytes: Long, limits: LruCache.Limits): Unit = {
    values.put(key, value, bytes, limits)
    if (limits.idleMs < Long.MaxValue && !values.isEmpty && isSweeping.compareAndSet(false, true))
      sweepIn(limits.idleMs)
  }

  /** Drops the values that have not been used for their idle time. */
  private[scan] def dropIdle(): Unit = values.dropIdle()

  private def sweepIn(delayMs: Long): Unit =
    BackgroundWork.in(math.max(1L, delayMs)) {
      dropIdle()
      if (!values.isEmpty) sweepIn(delayMs)
      else {
        isSweeping.set(false)
        // A value may have been added before the flag was cleared.
        if (!values.isEmpty && isSweeping.compareAndSet(false, true)) sweepIn(delayMs)
      }
    }
}

object DeleteCache {

  /**
   * The default limits: 64 MiB for an entry, 128 MiB in total, and an idle time of 10 minutes. If a delete file is too
   * large for the cache, each task reads it again, and spills its equality deletes to disk.
   */
  val DefaultLimits: LruCache.Limits = LruCache.Limits(64L << 20, 128L << 20, 10L * 60 * 1000)

  /** The cache of the JVM. */
  lazy val shared: DeleteCache = new DeleteCache()
}

/**
 * A cache of decoded delete files, and how a reader uses the cache.
 *
 * @param storageKey part of the key of each cached value. Readers that access storage with a different `FileIO` or with
 *   different credentials have different storage keys, so that they do not share cached values.
 * @param limits limits of the sizes and idle times of the values that the reader adds to the cache
 * @param spillDirectory local directory for keys of equality deletes that do not fit into memory
 */
final case class DeleteCacheAccess(
    cache: DeleteCache,
    storageKey: AnyRef,
    limits: LruCache.Limits,
    spillDirectory: String
)

object DeleteCacheAccess {

  /** Returns the access to a new cache, which no other reader uses. */
  def toNewCache: DeleteCacheAccess =
    DeleteCacheAccess(
      new DeleteCache(),
      "",
      DeleteCache.DefaultLimits.copy(idleMs = Long.MaxValue),
      System.getProperty("java.io.tmpdir")
    )
}
