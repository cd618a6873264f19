package iceberglite.spark.session

import java.util.{Collections, UUID, WeakHashMap}
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.collection.JavaConverters._

import iceberglite.table.Table

/**
 * The recently loaded tables of one catalog. When an entry is `expirationMs` old, a newer version is requested from the
 * catalog, even if the table is in constant use: a busy table is never staler than that. A catalog that stores the
 * location of the metadata file compares only the location.
 *
 * @param expirationMs 0 caches nothing; with a negative value, only commits of this JVM and REFRESH TABLE are visible
 */
final class TableCache(
    expirationMs: Long,
    nowMs: () => Long = () => System.currentTimeMillis,
    capacity: Int = TableCache.Capacity
) {

  /** The entry for one name, and the lock with which concurrent readers wait for a single load. */
  final private class Slot {
    @volatile var entry: Option[Entry] = None

    /** The number of reasons to request the table again. It is also incremented during a request. */
    val invalidations = new AtomicLong
  }
  private case class Entry(live: SharedTable, loadedMs: Long, invalidations: Long)

  private val slots = new ConcurrentHashMap[String, Slot]

  /**
   * Tables that were handed out without being cached, by name: data frames and cached results hold references to them.
   */
  private val uncachedTables = Collections.synchronizedMap(new WeakHashMap[SharedTable, String])

  CommitListeners.register(this)

  /** Returns the table with a name, loaded if necessary. Failures of `load` are not cached. */
  def table(name: String)(load: => Table): SharedTable =
    if (expirationMs == 0) {
      val live = new SharedTable(load)
      uncachedTables.put(live, name)
      live
    } else {
      val slot = slots.computeIfAbsent(name, _ => new Slot)
      try {
        val live = loadIfStale(slot, load)
        if (slots.size > capacity) evict()
        live
      } finally if (slot.entry.isEmpty) slots.remove(name, slot)
    }

  /** Returns the last known version of the table. */
  def known(name: String): Option[Table] = entryOf(name).map(_.live.current)

  /** Makes the next access load the table again, with commits of other writers. */
  def invalidate(name: String): Unit = {
    Option(slots.get(name)).foreach(_.invalidations.incrementAndGet())
    markUncachedStale { case (_, known) => known == name }
  }

  private def markUncachedStale(which: ((SharedTable, String)) => Boolean): Unit =
    uncachedTables.synchronized(uncachedTables.asScala.toVector).filter(which).foreach(_._1.markStale())

  /** Handles a commit of this JVM to the table, possibly under another name. */
  private[iceberglite] def onCommit(table: UUID, committedBy: Option[SharedTable]): Unit = {
    def isAffected(live: SharedTable) = !committedBy.exists(_ eq live) && live.lastKnown.metadata.uuid.contains(table)
    slots.values.forEach(slot => if (slot.entry.forall(e => isAffected(e.live))) slot.invalidations.incrementAndGet())
    markUncachedStale { case (live, _) => isAffected(live) }
  }

  /** Removes a table that was dropped, or whose name another table took. */
  def remove(name: String): Unit = slots.remove(name)

  def clear(): Unit = slots.clear()

  private def entryOf(name: String): Option[Entry] = Option(slots.get(name)).flatMap(_.entry)

  private def loadIfStale(slot: Slot, load: => Table): SharedTable = slot.synchronized {
    val entry = slot.entry.filter(isFresh(_, slot)).getOrElse {
      // Read the clock and the counter first: the response may lack commits that happen during the request.
      val (requestedMs, invalidations) = (nowMs(), slot.invalidations.get)
      Entry(reuseOrCreate(slot.entry.map(_.live), load), requestedMs, invalidations)
    }
    slot.entry = Some(entry)
    entry.live
  }

  private def isFresh(entry: Entry, slot: Slot): Boolean =
    entry.invalidations == slot.invalidations.get && (expirationMs < 0 || nowMs() - entry.loadedMs < expirationMs)

  /**
   * Keeps the object of the same table, which relations reference; a table that was dropped and created again gets a
   * new one.
   */
  private def reuseOrCreate(known: Option[SharedTable], load: => Table): SharedTable = known.filter { live =>
    val version = live.loadByName()
    val same = version.metadata.uuid == live.current.metadata.uuid
    if (same) live.advance(version)
    same
  }.getOrElse(new SharedTable(load))

  private def evict(): Unit = {
    val oldest = slots.asScala.toVector
      .map { case (name, slot) => (slot.entry.fold(Long.MaxValue)(_.loadedMs), name) }.sorted
    oldest.take(slots.size - capacity).foreach { case (_, name) => slots.remove(name) }
  }
}

object TableCache {

  /** Limits the number of entries: metadata of a large table takes megabytes, and a job may use thousands of tables. */
  val Capacity = 500
}
