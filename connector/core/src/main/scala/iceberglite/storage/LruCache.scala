package iceberglite.storage

import java.util.{LinkedHashMap, Map => JavaMap}
import java.util.concurrent.TimeUnit

/**
 * A cache of values with an estimated heap size. The least recently used values are dropped first. The cache is
 * thread-safe.
 *
 * @param nowMs a monotonic clock, in milliseconds
 */
final class LruCache[K, V](nowMs: () => Long = LruCache.Uptime) {
  private case class Slot(value: V, bytes: Long, idleMs: Long, usedMs: Long)
  private val slots = new LinkedHashMap[K, Slot](16, 0.75f, true)
  private var total = 0L
  private var shortestIdleMs = Long.MaxValue

  /** Returns the estimated heap size of all values, in bytes. */
  def bytes: Long = synchronized {
    dropIdle()
    total
  }

  def isEmpty: Boolean = synchronized(slots.isEmpty)

  def get(key: K): Option[V] = synchronized {
    dropIdle()
    val slot = Option(slots.get(key))
    if (shortestIdleMs < Long.MaxValue) slot.foreach(s => slots.put(key, s.copy(usedMs = nowMs())))
    slot.map(_.value)
  }

  /** Adds a value, unless the value is larger than the limits allow. */
  def put(key: K, value: V, bytes: Long, limits: LruCache.Limits): Unit = synchronized {
    dropIdle()
    if (bytes <= limits.maxEntryBytes && bytes <= limits.maxTotalBytes) {
      shortestIdleMs = math.min(shortestIdleMs, limits.idleMs)
      Option(slots.put(key, Slot(value, bytes, limits.idleMs, nowMs()))).foreach(replaced => total -= replaced.bytes)
      total += bytes
    }
    drop(total <= limits.maxTotalBytes)(_ => true)
  }

  /**
   * Returns a cached or loaded value. Values are loaded outside of the lock. Therefore two threads may load the same
   * value, but neither thread waits for the other.
   *
   * @param weigh returns the estimated heap size of a value, in bytes
   */
  def valueOf(key: K, weigh: V => Long, limits: LruCache.Limits)(load: => V): V = get(key).getOrElse {
    val loaded = load
    put(key, loaded, weigh(loaded), limits)
    loaded
  }

  /**
   * Returns a cached value, or creates and adds one. The value is created within the lock, so that all callers get the
   * same instance. Therefore its creation must be fast.
   *
   * @param bytes the estimated heap size of a new value
   */
  def getOrAdd(key: K, bytes: Long, limits: LruCache.Limits)(create: => V): V = synchronized {
    valueOf(key, _ => bytes, limits)(create)
  }

  def remove(shouldRemove: K => Boolean): Unit = synchronized(drop(until = false)(entry => shouldRemove(entry.getKey)))

  /** Drops each value that has not been used for its idle time. */
  def dropIdle(): Unit = synchronized {
    if (shortestIdleMs < Long.MaxValue) {
      val now = nowMs()
      // The values are in the order of their last use. The search ends at the first value that was used recently.
      var reachedRecent = false
      drop(reachedRecent) { entry =>
        val idle = now - entry.getValue.usedMs
        reachedRecent = idle < shortestIdleMs
        idle >= entry.getValue.idleMs
      }
    }
  }

  /**
   * Drops the values that meet a condition, until `until` is true. The least recently used values are dropped first.
   */
  private def drop(until: => Boolean)(condition: JavaMap.Entry[K, Slot] => Boolean): Unit = {
    val eldest: java.util.Iterator[JavaMap.Entry[K, Slot]] = slots.entrySet.iterator
    while (!until && eldest.hasNext) {
      val entry = eldest.next()
      if (condition(entry)) {
        total -= entry.getValue.bytes
        eldest.remove()
      }
    }
  }
}

object LruCache {

  /** A monotonic clock, in milliseconds. */
  val Uptime: () => Long = () => TimeUnit.NANOSECONDS.toMillis(System.nanoTime)

  /**
   * Limits of a cache.
   *
   * @param maxEntryBytes a larger value is not cached
   * @param maxTotalBytes limit for the total size of all values; 0 disables the cache
   * @param idleMs a value that is not used for this time is dropped; `Long.MaxValue` for no time limit
   */
  final case class Limits(maxEntryBytes: Long, maxTotalBytes: Long, idleMs: Long)

  object Limits {

    /** Returns limits that restrict only the number of values. The size of each value must be given as 1. */
    def ofCount(values: Int): Limits = Limits(1L, values.toLong, Long.MaxValue)
  }
}
