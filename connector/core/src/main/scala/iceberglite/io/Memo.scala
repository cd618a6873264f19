package iceberglite.io

import java.util.concurrent.ConcurrentHashMap

/**
 * What was made of values before, so that it is made once.
 *
 * @param capacity with so many values it forgets all, and begins again
 */
final private[io] class Memo[K, V](capacity: Int)(make: K => V) {
  private val made = new ConcurrentHashMap[K, V]

  def apply(key: K): V = {
    if (made.size >= capacity) made.clear()
    made.computeIfAbsent(key, make(_))
  }
}
