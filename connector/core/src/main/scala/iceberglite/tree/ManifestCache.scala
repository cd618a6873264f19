package iceberglite.tree

import java.util.concurrent.ConcurrentHashMap

import iceberglite.spec.file.{ManifestEntry, ManifestFile}
import iceberglite.storage.{CacheBounds, FileIO, LruCache}

/**
 * A cache of the decoded contents of manifests, manifest lists and root manifests (version 4) that were read or
 * written. The cached contents never become outdated, because the files are immutable. When the estimated heap size
 * exceeds the limit, the least recently used entries are dropped.
 *
 * @param maxBytes the maximum estimated heap size in bytes; 0 disables the cache
 * @param maxFileBytes the maximum length of a cached manifest in bytes
 * @param idleMs the time in milliseconds after which an unused entry is dropped; absent for no time limit
 * @param nowMs a monotonic clock, in milliseconds
 */
final class ManifestCache(
    maxBytes: Long,
    maxFileBytes: Long = Long.MaxValue,
    idleMs: Option[Long] = None,
    nowMs: () => Long = LruCache.Uptime
) {
  private val listLimits = limits(maxBytes / ManifestCache.ListShare)
  private val rootLimits = limits(maxBytes / ManifestCache.RootShare)
  private val entryLimits = limits(maxBytes - listLimits.maxTotalBytes - rootLimits.maxTotalBytes)
  private val entries = new LruCache[PartKey, Array[ManifestEntry]](nowMs)
  private val lists = new LruCache[ListKey, Vector[ManifestFile]](nowMs)
  private val roots = new LruCache[RootKey, CachedRoot](nowMs)

  /**
   * Returns the limits of a cache of the given size in bytes. A single value may use at most half of the cache, because
   * a larger value would displace most other values.
   */
  private def limits(bytes: Long) = LruCache.Limits(bytes / 2, bytes, idleMs.getOrElse(Long.MaxValue))

  def enabled: Boolean = maxBytes > 0

  /** Returns the estimated heap size of the cached values, in bytes. */
  def bytes: Long = entries.bytes + lists.bytes + roots.bytes

  /**
   * Drops the cached contents of all files below a directory that were read through `io`. `REFRESH TABLE` calls this
   * method, so that files that were repaired or lost are read again.
   */
  def invalidate(io: FileIO, directory: String): Unit = {
    val below = directory.stripSuffix("/") + "/"
    // Each table object of an encrypted table wraps the storage in another object.
    def isBelow(of: FileIO, path: String) = (of.unguarded eq io.unguarded) && path.startsWith(below)
    entries.remove(key => isBelow(key.io, key.path))
    lists.remove(key => isBelow(key.io, key.path))
    roots.remove(key => isBelow(key.io, key.path))
  }

  /**
   * Returns whether a part is small enough to be cached, according to its length and its number of files. The entries
   * of larger parts are streamed, so that their readers do not hold all of them. However, a leaf of at most 16 MB
   * (version 4) is read as a whole: its bytes and its decoded statistics stay in memory until its last entry is
   * dropped.
   */
  private[tree] def canCache(part: FilePart): Boolean =
    enabled && part.length <= maxFileBytes && EntrySizeEstimates.minHeapBytes(part) <= entryLimits.maxEntryBytes

  /** Returns the entries of a part. The array is shared and must not be changed. */
  private[tree] def entriesOf(key: PartKey)(load: => Array[ManifestEntry]): Array[ManifestEntry] =
    entries.valueOf(key, EntrySizeEstimates.heapBytes(_, key.length), entryLimits)(load)

  private[tree] def manifestsOf(key: ListKey)(load: => Vector[ManifestFile]): Vector[ManifestFile] =
    lists.valueOf(key, EntrySizeEstimates.manifestHeapBytes, listLimits)(load)

  /** Returns the contents of a root that lists files itself. */
  private[tree] def rootOf(key: RootKey)(load: => CachedRoot): CachedRoot =
    roots.valueOf(key, _.heapBytes, rootLimits)(load)

  private[tree] def putRoot(key: RootKey, written: CachedRoot): Unit =
    roots.put(key, written, written.heapBytes, rootLimits)

  private[tree] def putEntries(key: PartKey, written: Array[ManifestEntry]): Unit =
    if (key.length <= maxFileBytes)
      entries.put(key, written, EntrySizeEstimates.heapBytes(written, key.length), entryLimits)

  private[tree] def putManifests(key: ListKey, written: Vector[ManifestFile]): Unit =
    lists.put(key, written, EntrySizeEstimates.manifestHeapBytes(written), listLimits)
}

object ManifestCache {
  private val MaxBytes = 512L << 20
  private val HeapShare = 0.15

  /** Manifest lists may use one sixteenth of the cache (1 / `ListShare`), because they are small. */
  private val ListShare = 16

  /** Roots that list files themselves may use one eighth of the cache (1 / `RootShare`). */
  private val RootShare = 8

  /** A cache that is always empty, for catalogs with `io.manifest.cache-enabled=false`. */
  val Disabled: ManifestCache = new ManifestCache(0)

  /** Returns the cache for files that are read through `io`. */
  def of(io: FileIO): ManifestCache =
    if (!io.mayCache) Disabled else if (io.cacheBounds == CacheBounds.Default) shared else ofBounds(io.cacheBounds)

  /** The default cache of the JVM: at most 512 MB, and at most 15 % of the heap. */
  lazy val shared: ManifestCache = new ManifestCache(defaultBytes)

  private lazy val defaultBytes = math.min(MaxBytes, (Runtime.getRuntime.maxMemory * HeapShare).toLong)

  /** The caches with other limits than the default. Catalogs with the same limits share a cache. */
  private val bounded = new ConcurrentHashMap[CacheBounds, ManifestCache]

  private def ofBounds(bounds: CacheBounds): ManifestCache = bounded.computeIfAbsent(
    bounds,
    b => new ManifestCache(b.maxBytes.getOrElse(defaultBytes), b.maxFileBytes.getOrElse(Long.MaxValue), b.idleMs)
  )
}

/** The decoded contents of a root that lists files itself. */
private[tree] trait CachedRoot {

  /** The estimated heap size in bytes. */
  def heapBytes: Long
}

/**
 * Key of a root that lists files itself.
 *
 * @param inherited the values that its decoded entries depend on, such as the types of columns
 */
final private[tree] case class RootKey(io: FileIO, path: String, inherited: Product)

/**
 * Key of a manifest list, or of a manifest that table metadata lists directly. The key includes the `FileIO`, because a
 * catalog with other credentials may not be allowed to read the file.
 */
final private[tree] case class ListKey(io: FileIO, path: String)

/**
 * Key of the decoded entries of a part. The entries depend not only on the file, but also on the part's sequence number
 * (which differs between attempts of a commit), on its first row id (which an upgrade to version 3 assigns), and on the
 * types of partition values (which depend on the schema).
 *
 * @param inherited the values of the part that its entries depend on, such as the sequence number, first row id and
 *   partition type
 */
final private[tree] case class PartKey(io: FileIO, path: String, length: Long, inherited: Product)
