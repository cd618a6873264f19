package iceberglite.avro

import java.util.concurrent.ConcurrentHashMap

/**
 * Caches the results of a function.
 *
 * @param capacity maximum number of cached results; when it is reached, the whole cache is cleared
 */
final private[iceberglite] class Memo[K, V](capacity: Int)(compute: K => V) {
  private val results = new ConcurrentHashMap[K, V]

  def apply(key: K): V = {
    if (results.size >= capacity) results.clear()
    results.computeIfAbsent(key, compute(_))
  }
}
