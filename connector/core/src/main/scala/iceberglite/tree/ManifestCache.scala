package iceberglite.tree

import java.util.concurrent.{ConcurrentHashMap, TimeUnit}
import java.util.{LinkedHashMap, Map => JavaMap}

import iceberglite.spec.file.{ManifestEntry, ManifestFile, PartSummary}
import iceberglite.storage.{CacheBounds, FileIO}

/**
 * A cache of the decoded contents of manifests and manifest lists that were read or written. The files never change.
 * When the estimated heap size exceeds the limit, the least recently used entries are dropped.
 *
 * @param maxBytes 0 disables the cache
 * @param maxFileBytes longer manifests are not cached
 * @param idleMs an entry that is not used for this time is dropped; absent for no time limit
 * @param nowMs a monotonic clock
 */
final class ManifestCache(
    maxBytes: Long,
    maxFileBytes: Long = Long.MaxValue,
    idleMs: Option[Long] = None,
    nowMs: () => Long = ManifestCache.Uptime
) {
  private val listBytes = maxBytes / ManifestCache.ListShare
  private val entries =
    new BoundedCache[PartKey, Array[ManifestEntry]](maxBytes - listBytes, idleMs, nowMs)
  private val lists = new BoundedCache[ListKey, Vector[ManifestFile]](listBytes, idleMs, nowMs)

  def enabled: Boolean = maxBytes > 0

  /** Returns an estimate of the heap in use. */
  def bytes: Long = entries.bytes + lists.bytes

  /** Drops the entries of all files below a directory. `REFRESH TABLE` needs this after files were repaired or lost. */
  def invalidate(io: FileIO, directory: String): Unit = {
    val below = directory.stripSuffix("/") + "/"
    entries.remove(key => (key.io eq io) && key.path.startsWith(below))
    lists.remove(key => (key.io eq io) && key.path.startsWith(below))
  }

  /**
   * Returns whether a part is small enough to be cached, estimated from its number of files. The entries of other parts
   * are streamed, and never held in memory as a whole.
   */
  private[tree] def canCache(part: PartSummary): Boolean =
    enabled && part.length <= maxFileBytes && EntrySizeEstimates.minHeapBytes(part) <= entries.maxValueBytes

  /** Returns the entries of a part. The array is shared and must not be changed. */
  private[tree] def entriesOf(key: PartKey)(load: => Array[ManifestEntry]): Array[ManifestEntry] =
    entries.valueOf(key, EntrySizeEstimates.heapBytes(_, key.length))(load)

  private[tree] def manifestsOf(key: ListKey)(load: => Vector[ManifestFile]): Vector[ManifestFile] =
    lists.valueOf(key, EntrySizeEstimates.manifestHeapBytes)(load)

  private[tree] def putEntries(key: PartKey, written: Array[ManifestEntry]): Unit =
    if (key.length <= maxFileBytes) entries.put(key, written, EntrySizeEstimates.heapBytes(written, key.length))

  private[tree] def putManifests(key: ListKey, written: Vector[ManifestFile]): Unit =
    lists.put(key, written, EntrySizeEstimates.manifestHeapBytes(written))
}

object ManifestCache {
  private val MaxBytes = 512L << 20
  private val HeapShare = 0.15

  /** Manifest lists are small: they get this fraction of the cache (one part in 16). */
  private val ListShare = 16

  private val Uptime: () => Long = () => TimeUnit.NANOSECONDS.toMillis(System.nanoTime)

  /** A cache that holds nothing, for a catalog with `io.manifest.cache-enabled=false`. */
  val Disabled: ManifestCache = new ManifestCache(0)

  /** Returns the cache for files that are read through `io`. */
  def of(io: FileIO): ManifestCache =
    if (!io.mayCache) Disabled else if (io.cacheBounds == CacheBounds.Default) shared else ofBounds(io.cacheBounds)

  /** The default cache of the JVM: at most 512 MB, and at most 15 % of the heap. */
  lazy val shared: ManifestCache = new ManifestCache(defaultBytes)

  private lazy val defaultBytes = math.min(MaxBytes, (Runtime.getRuntime.maxMemory * HeapShare).toLong)

  /** Catalogs with the same limits share a cache; a JVM has few of them. */
  private val bounded = new ConcurrentHashMap[CacheBounds, ManifestCache]

  private def ofBounds(bounds: CacheBounds): ManifestCache = bounded.computeIfAbsent(
    bounds,
    b => new ManifestCache(b.maxBytes.getOrElse(defaultBytes), b.maxFileBytes.getOrElse(Long.MaxValue), b.idleMs)
  )
}

/**
 * Key of a manifest list, or of a manifest that table metadata lists directly. It includes the file system, because a
 * file that one catalog may read may be forbidden to another catalog with other credentials.
 */
final private[tree] case class ListKey(io: FileIO, path: String)

/**
 * Key of the decoded entries of a part. Besides the file, the entries depend on the part's sequence number (which
 * differs between attempts of a commit), on its first row id (which an upgrade to version 3 assigns), and on the types
 * of partition values (which depend on the schema).
 *
 * @param inherited these other values
 */
final private[tree] case class PartKey(io: FileIO, path: String, length: Long, inherited: Product)

/** A thread-safe cache of values with sizes. The least recently used values are dropped first. */
final private[tree] class BoundedCache[K, V](
    maxBytes: Long,
    idleMs: Option[Long] = None,
    nowMs: () => Long = () => 0L
) {
  private case class Slot(value: V, bytes: Long, usedMs: Long)
  private val slots = new LinkedHashMap[K, Slot](16, 0.75f, true)
  private var total = 0L

  def bytes: Long = synchronized {
    dropIdle()
    total
  }

  /**
   * Returns a cached or loaded value. Loading happens outside of the lock: two threads may load the same value, but
   * neither waits for the other's storage.
   */
  def valueOf(key: K, weigh: V => Long)(load: => V): V = synchronized(lookUp(key)).getOrElse {
    val loaded = load
    put(key, loaded, weigh(loaded))
    loaded
  }

  private def lookUp(key: K): Option[V] = {
    dropIdle()
    val found = Option(slots.get(key))
    if (idleMs.isDefined) found.foreach(slot => slots.put(key, slot.copy(usedMs = nowMs())))
    found.map(_.value)
  }

  def remove(which: K => Boolean): Unit = synchronized(dropIf(e => which(e.getKey)))

  /** A larger value is not cached, because it would displace most others. */
  val maxValueBytes: Long = maxBytes / 2

  def put(key: K, value: V, bytes: Long): Unit = if (bytes <= maxValueBytes) synchronized {
    dropIdle()
    Option(slots.put(key, Slot(value, bytes, nowMs()))).foreach(previous => total -= previous.bytes)
    total += bytes
    dropWhile(_ => total > maxBytes)
  }

  private def dropIdle(): Unit = idleMs.foreach { idle =>
    val now = nowMs()
    dropWhile(slot => now - slot.usedMs >= idle)
  }

  /** Drops entries, least recently used first. */
  private def dropWhile(condition: Slot => Boolean): Unit = {
    val eldest: java.util.Iterator[JavaMap.Entry[K, Slot]] = slots.entrySet.iterator
    var matches = true
    while (matches && eldest.hasNext) {
      val slot = eldest.next().getValue
      matches = condition(slot)
      if (matches) {
        total -= slot.bytes
        eldest.remove()
      }
    }
  }

  private def dropIf(condition: JavaMap.Entry[K, Slot] => Boolean): Unit = {
    val all: java.util.Iterator[JavaMap.Entry[K, Slot]] = slots.entrySet.iterator
    while (all.hasNext) {
      val entry = all.next()
      if (condition(entry)) {
        total -= entry.getValue.bytes
        all.remove()
      }
    }
  }
}
