package iceberglite.scan

import java.util.concurrent.{CountDownLatch, Executors, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.storage.LruCache
import iceberglite.scan.deletes.DeleteCache

/** Tests the cache through which tasks on one executor share the contents of delete files. */
class DeleteCacheSuite extends AnyFunSuite {
  private var now = 0L
  private val limits = LruCache.Limits(maxEntryBytes = 60, maxTotalBytes = 100, idleMs = Long.MaxValue)

  private def read(cache: DeleteCache, key: String, bytes: Long = 30, limits: LruCache.Limits = limits)(
      load: => String
  ): String = cache.valueOf[String](key, limits, _ => bytes)(load)

  private def isKept(cache: DeleteCache, key: String): Boolean = {
    var isNew = false
    read(cache, key, bytes = 1000) {
      isNew = true
      "new"
    }
    !isNew
  }

  test("a value is loaded once, and if the cache is full the least recently used value is evicted") {
    val cache = new DeleteCache(() => now)
    Seq("a", "b", "c").foreach(k => read(cache, k)(k))
    assert(cache.bytes == 90 && read(cache, "a")("again") == "a")
    read(cache, "d")("d")
    assert(cache.bytes == 90 && isKept(cache, "a") && !isKept(cache, "b") && isKept(cache, "c") && isKept(cache, "d"))
  }

  test("a value larger than the maximum entry size is returned but not cached") {
    val cache = new DeleteCache(() => now)
    assert(read(cache, "a", bytes = 61)("a") == "a" && cache.bytes == 0 && !isKept(cache, "a"))
    assert(read(cache, "b", limits = limits.copy(maxTotalBytes = 0))("b") == "b" && cache.bytes == 0)
  }

  test("an unused value expires after its idle time, even if there are no further requests") {
    val cache = new DeleteCache(() => now)
    val short = limits.copy(idleMs = 1000)
    read(cache, "a", limits = short)("a")
    read(cache, "b", limits = short)("b")
    now += 900
    assert(isKept(cache, "a"))
    now += 900
    cache.dropIdle()
    assert(cache.bytes == 30 && isKept(cache, "a") && !isKept(cache, "b"))
    now += 1000
    cache.dropIdle()
    assert(cache.bytes == 0)
  }

  test(
    "a value is not loaded again if another task loads it between a failed lookup and the load that follows the lookup"
  ) {
    val cache = new DeleteCache(() => now)
    val loads = new AtomicInteger
    def valueOf(key: AnyRef): String = cache.valueOf[String](key, limits, _ => 30)(loads.incrementAndGet().toString)

    final class Key(onHashCode: () => Unit) {
      override def hashCode: Int = {
        onHashCode()
        1
      }
      override def equals(that: Any): Boolean = that.isInstanceOf[Key]
    }
    var isFirst = true
    // The cache looks up the value while holding its lock. Without the lock it then looks for a load in progress, which
    // calls `hashCode` again. At this moment another task loads the value completely.
    val slowKey = new Key(() =>
      if (isFirst && !Thread.holdsLock(cache)) {
        isFirst = false
        assert(valueOf(new Key(() => ())) == "1")
      }
    )
    assert(valueOf(slowKey) == "1" && !isFirst && loads.get == 1)
  }

  test("tasks that request the same value concurrently wait for one load") {
    val cache = new DeleteCache(() => now)
    val loads = new AtomicInteger
    val begun, finish = new CountDownLatch(1)
    val pool = Executors.newFixedThreadPool(8)
    try {
      val results = (0 until 8).map { _ =>
        pool.submit[String](() =>
          read(cache, "a") {
            loads.incrementAndGet()
            begun.countDown()
            finish.await(60, TimeUnit.SECONDS)
            "loaded"
          }
        )
      }
      assert(begun.await(60, TimeUnit.SECONDS))
      finish.countDown()
      assert(results.map(_.get(60, TimeUnit.SECONDS)).toSet == Set("loaded") && loads.get == 1)
    } finally pool.shutdownNow()
  }

  test("every request fails while loading the value fails, and a later load can succeed") {
    val cache = new DeleteCache(() => now)
    def broken: String = throw UnreadableFile("f", "delete file", "It is damaged")
    assert((0 until 3).map(_ => intercept[UnreadableFile](read(cache, "a")(broken)).getMessage).toSet.size == 1)
    assert(read(cache, "a")("whole") == "whole" && isKept(cache, "a"))
  }
}
