package iceberglite.tree

import java.util.{LinkedHashMap, Map => JavaMap}

import iceberglite.io.FileIO
import iceberglite.spec.{ManifestEntry, ManifestFile}
import iceberglite.spec.Type.StructType

/**
 * What was read from manifests and manifest lists, or written to them, so that it need not be read again: the files
 * never change. The least recently used goes first when an estimate of the heap that it all takes passes the bound.
 *
 * @param maxBytes 0 keeps nothing
 */
final class ManifestCache(maxBytes: Long) {
  private val listBytes = maxBytes / ManifestCache.ListShare
  private val entries = new BoundedCache[ManifestKey, Array[ManifestEntry]](maxBytes - listBytes)
  private val lists = new BoundedCache[ListKey, Vector[ManifestFile]](listBytes)

  def enabled: Boolean = maxBytes > 0

  /** An estimate of the heap that is in use. */
  def bytes: Long = entries.bytes + lists.bytes

  /** Drops what is kept of the files below a directory: for `REFRESH TABLE` after files were repaired or lost. */
  def forget(io: FileIO, directory: String): Unit = {
    val below = directory.stripSuffix("/") + "/"
    entries.remove(key => (key.io eq io) && key.path.startsWith(below))
    lists.remove(key => (key.io eq io) && key.path.startsWith(below))
  }

  /** The rows of a manifest; whoever gets the array leaves it as it is. */
  private[tree] def entriesOf(key: ManifestKey)(load: => Array[ManifestEntry]): Array[ManifestEntry] =
    entries.valueOf(key, EntryWeight.of(_, key.length))(load)

  private[tree] def manifestsOf(key: ListKey)(load: => Vector[ManifestFile]): Vector[ManifestFile] =
    lists.valueOf(key, EntryWeight.ofManifests)(load)

  private[tree] def keepEntries(key: ManifestKey, written: Array[ManifestEntry]): Unit =
    entries.put(key, written, EntryWeight.of(written, key.length))

  private[tree] def keepManifests(key: ListKey, written: Vector[ManifestFile]): Unit =
    lists.put(key, written, EntryWeight.ofManifests(written))
}

object ManifestCache {
  private val MaxBytes = 512L << 20
  private val HeapShare = 0.15

  /** Manifest lists, which are small, get one part in so many. */
  private val ListShare = 16

  /** Keeps nothing: for a catalog with `io.manifest.cache-enabled=false`. */
  val Off: ManifestCache = new ManifestCache(0)

  /** The cache for what is read through `io`. */
  def of(io: FileIO): ManifestCache = if (io.mayCache) shared else Off

  /** The cache of the JVM: at most 512 MB, and at most 15 % of the heap. */
  lazy val shared: ManifestCache =
    new ManifestCache(math.min(MaxBytes, (Runtime.getRuntime.maxMemory * HeapShare).toLong))
}

/**
 * A manifest list, or a manifest without one, as a file system has it: what one catalog may read, another with other
 * credentials may not.
 */
final private[tree] case class ListKey(io: FileIO, path: String)

/**
 * A manifest as it is decoded: what its entries inherit and the types of its partition values are part of what is kept.
 * The sequence number differs between attempts of a commit, the first row id before and after an upgrade.
 */
final private[tree] case class ManifestKey(
    io: FileIO,
    path: String,
    length: Long,
    sequenceNumber: Long,
    firstRowId: Option[Long],
    partitionType: StructType
)

/** Values with weights, dropped in the order of their last use. */
final private[tree] class BoundedCache[K, V](maxBytes: Long) {
  private case class Slot(value: V, bytes: Long)
  private val slots = new LinkedHashMap[K, Slot](16, 0.75f, true)
  private var total = 0L

  def bytes: Long = synchronized(total)

  /** Loads outside of the lock: two threads may load the same, and none waits for another's storage. */
  def valueOf(key: K, weigh: V => Long)(load: => V): V = synchronized(Option(slots.get(key))) match {
    case Some(slot) => slot.value
    case None =>
      val loaded = load
      put(key, loaded, weigh(loaded))
      loaded
  }

  def remove(which: K => Boolean): Unit = synchronized {
    val all: java.util.Iterator[JavaMap.Entry[K, Slot]] = slots.entrySet.iterator
    while (all.hasNext) {
      val slot = all.next()
      if (which(slot.getKey)) {
        total -= slot.getValue.bytes
        all.remove()
      }
    }
  }

  /** A value that would push out most of the rest is not kept. */
  def put(key: K, value: V, bytes: Long): Unit = if (bytes <= maxBytes / 2) synchronized {
    Option(slots.put(key, Slot(value, bytes))).foreach(former => total -= former.bytes)
    total += bytes
    val eldest: java.util.Iterator[JavaMap.Entry[K, Slot]] = slots.entrySet.iterator
    while (total > maxBytes && eldest.hasNext) {
      total -= eldest.next().getValue.bytes
      eldest.remove()
    }
  }
}
