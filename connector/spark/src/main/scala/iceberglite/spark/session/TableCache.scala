package iceberglite.spark.session

import java.util.{Collections, UUID, WeakHashMap}
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.collection.JavaConverters._

import iceberglite.table.Table

/**
 * The recently loaded tables of one catalog. An entry expires `expirationMs` after it was loaded, even if the table is
 * in constant use. The next access then requests the newest version from the catalog. If the catalog stores the
 * location of the metadata file, the metadata is loaded again only if the location has changed.
 *
 * @param expirationMs the lifetime of an entry in ms. With 0, nothing is cached. With a negative value, entries do not
 *   expire; commits of other JVMs become visible only after REFRESH TABLE.
 * @param capacity maximum number of entries
 */
final class TableCache(
    expirationMs: Long,
    nowMs: () => Long = () => System.currentTimeMillis,
    capacity: Int = TableCache.Capacity
) {

  /** The entry for one name, and the lock with which concurrent readers wait for a single load. */
  final private class Slot {
    @volatile var entry: Option[Entry] = None

    /** The number of invalidations so far. The number may increase while the table is being loaded. */
    val invalidations = new AtomicLong
  }
  private case class Entry(shared: SharedTable, loadedMs: Long, invalidations: Long)

  private val slots = new ConcurrentHashMap[String, Slot]

  /**
   * The names of returned tables that are not cached, because `expirationMs` is 0. DataFrames and cached results refer
   * to these tables.
   */
  private val uncachedTables = Collections.synchronizedMap(new WeakHashMap[SharedTable, String])

  CommitListeners.register(this)

  /** Returns the table with the given name, and loads it if necessary. Failures of `load` are not cached. */
  def table(name: String)(load: => Table): SharedTable =
    if (expirationMs == 0) {
      val shared = new SharedTable(load)
      uncachedTables.put(shared, name)
      shared
    } else {
      val slot = slots.computeIfAbsent(name, _ => new Slot)
      try {
        val shared = loadIfStale(slot, load)
        if (slots.size > capacity) evict()
        shared
      } finally if (slot.entry.isEmpty) slots.remove(name, slot)
    }

  /** Returns the newest known version of a cached table; absent if the table is not cached. */
  def known(name: String): Option[Table] = entryOf(name).map(_.shared.current)

  /** Makes the next access load the table again, with commits of other writers. */
  def invalidate(name: String): Unit = {
    Option(slots.get(name)).foreach(_.invalidations.incrementAndGet())
    markUncachedStale { case (_, known) => known == name }
  }

  private def markUncachedStale(condition: ((SharedTable, String)) => Boolean): Unit =
    uncachedTables.synchronized(uncachedTables.asScala.toVector).filter(condition).foreach(_._1.markStale())

  /**
   * Marks all objects of a table as stale, except `committedBy`. Called after a commit of this JVM to the table,
   * possibly under another name.
   */
  private[iceberglite] def onCommit(table: UUID, committedBy: Option[SharedTable]): Unit = {
    def isAffected(shared: SharedTable) =
      !committedBy.exists(_ eq shared) && shared.lastKnown.metadata.uuid.contains(table)
    slots.values.forEach(slot => if (slot.entry.forall(e => isAffected(e.shared))) slot.invalidations.incrementAndGet())
    markUncachedStale { case (shared, _) => isAffected(shared) }
  }

  /** Removes the entry of a table that was dropped, or of a table whose name now refers to another table. */
  def remove(name: String): Unit = slots.remove(name)

  def clear(): Unit = slots.clear()

  private def entryOf(name: String): Option[Entry] = Option(slots.get(name)).flatMap(_.entry)

  private def loadIfStale(slot: Slot, load: => Table): SharedTable = slot.synchronized {
    val entry = slot.entry.filter(isFresh(_, slot)).getOrElse {
      // Read the clock and the counter before the request, because the response may lack commits that happen during the
      // request.
      val (requestedMs, invalidations) = (nowMs(), slot.invalidations.get)
      Entry(reuseOrCreate(slot.entry.map(_.shared), load), requestedMs, invalidations)
    }
    slot.entry = Some(entry)
    entry.shared
  }

  private def isFresh(entry: Entry, slot: Slot): Boolean =
    entry.invalidations == slot.invalidations.get && (expirationMs < 0 || nowMs() - entry.loadedMs < expirationMs)

  /**
   * Returns the known object, updated to the newest version, because relations refer to this object. If the table was
   * dropped and created again, returns a new object.
   */
  private def reuseOrCreate(known: Option[SharedTable], load: => Table): SharedTable = known.filter { shared =>
    val version = shared.reloadByName()
    val isSameTable = version.metadata.uuid == shared.current.metadata.uuid
    if (isSameTable) shared.advance(version)
    isSameTable
  }.getOrElse(new SharedTable(load))

  private def evict(): Unit = {
    val oldest = slots.asScala.toVector
      .map { case (name, slot) => (slot.entry.fold(Long.MaxValue)(_.loadedMs), name) }.sorted
    oldest.take(slots.size - capacity).foreach { case (_, name) => slots.remove(name) }
  }
}

object TableCache {

  /**
   * The default maximum number of entries. The number is limited because the metadata of a large table takes megabytes,
   * and a job may use thousands of tables.
   */
  val Capacity = 500
}
