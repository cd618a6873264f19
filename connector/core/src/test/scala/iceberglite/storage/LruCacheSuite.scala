package iceberglite.storage

import org.scalatest.funsuite.AnyFunSuite

/** Tests [[LruCache]], a cache with a limited heap size. Values have a limited idle time. */
class LruCacheSuite extends AnyFunSuite {
  private val limits = LruCache.Limits(maxEntryBytes = 50, maxTotalBytes = 100, idleMs = Long.MaxValue)

  test("the cache stays within its maximum size, and evicts the least recently used value first") {
    val cache = new LruCache[String, String]()
    cache.put("a", "A", 40, limits)
    cache.put("b", "B", 40, limits)
    assert(cache.valueOf("a", _ => 40L, limits)(fail("The value is cached, and must not be loaded")) == "A")
    cache.put("c", "C", 40, limits)
    assert(cache.bytes == 80)
    assert(cache.valueOf("a", _ => 40L, limits)(fail("The value is cached, and must not be loaded")) == "A")
    assert(cache.valueOf("b", _ => 40L, limits)("again") == "again")
    assert(cache.bytes == 80)
    cache.put("huge", "H", 51, limits)
    assert(cache.bytes == 80, "a value larger than maxEntryBytes is not cached")
    cache.put("b", "B", 10, limits)
    assert(cache.bytes == 50)
  }

  test("a value expires if it is not used for its idle time") {
    var nowMs = 0L
    val cache = new LruCache[String, String](() => nowMs)
    val limits = LruCache.Limits(maxEntryBytes = 50, maxTotalBytes = 100, idleMs = 1000)
    cache.put("a", "A", 10, limits)
    cache.put("b", "B", 10, limits)
    nowMs = 900
    assert(cache.valueOf("a", _ => 10L, limits)(fail("The value is cached, and must not be loaded")) == "A")
    nowMs = 1500
    assert(cache.bytes == 10 && cache.valueOf("b", _ => 10L, limits)("again") == "again")
    assert(cache.valueOf("a", _ => 10L, limits)(fail("The value is cached, and must not be loaded")) == "A")
    nowMs = 5000
    assert(cache.bytes == 0)
  }

  test("each value has its own idle time") {
    var nowMs = 0L
    val cache = new LruCache[String, String](() => nowMs)
    cache.put("long", "L", 10, limits.copy(idleMs = 5000))
    cache.put("short", "S", 10, limits.copy(idleMs = 1000))
    cache.put("unlimited", "U", 10, limits)
    nowMs = 1000
    assert(cache.get("short").isEmpty && cache.bytes == 20)
    nowMs = 5000
    assert(cache.get("long").isEmpty && cache.get("unlimited").contains("U"))
  }
}
