package iceberglite.spark.catalog

import java.util.{Collections, UUID, WeakHashMap}
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.collection.JavaConverters._

import iceberglite.spark.{LiveTable, OwnCommits}
import iceberglite.table.Table

/**
 * The tables of one catalog that were loaded lately. Once an entry is `expirationMs` old its catalog is asked whether
 * there is a newer version, however often the table is used: a busy table is never staler than that. A catalog that
 * keeps a pointer answers by the pointer alone, as long as that has not moved.
 *
 * @param expirationMs 0 keeps nothing; with a negative value, only commits of this JVM and REFRESH TABLE show
 */
final class TableCache(
    expirationMs: Long,
    nowMs: () => Long = () => System.currentTimeMillis,
    capacity: Int = TableCache.Capacity
) {

  /** What is known under one name; a lock for those who want the table, and wait for one load together. */
  final private class Slot {
    @volatile var entry: Option[Entry] = None

    /** Grows with every reason to ask the catalog again, also while it is being asked. */
    val doubts = new AtomicLong
  }
  private case class Entry(live: LiveTable, loadedMs: Long, doubts: Long)

  private val slots = new ConcurrentHashMap[String, Slot]

  /** What was handed out without being kept, by name: data frames and cached results hold on to it. */
  private val handedOut = Collections.synchronizedMap(new WeakHashMap[LiveTable, String])

  OwnCommits.join(this)

  /** The table of that name, loaded if need be. Failures of `load` are not remembered. */
  def table(name: String)(load: => Table): LiveTable =
    if (expirationMs == 0) {
      val live = new LiveTable(load)
      handedOut.put(live, name)
      live
    } else {
      val slot = slots.computeIfAbsent(name, _ => new Slot)
      try {
        val live = fresh(slot, load)
        if (slots.size > capacity) evict()
        live
      } finally if (slot.entry.isEmpty) slots.remove(name, slot)
    }

  /** The table as it was last seen. */
  def known(name: String): Option[Table] = entryOf(name).map(_.live.current)

  /** What others committed shows when the table is next asked for. */
  def invalidate(name: String): Unit = {
    Option(slots.get(name)).foreach(_.doubts.incrementAndGet())
    doubt { case (_, known) => known == name }
  }

  private def doubt(which: ((LiveTable, String)) => Boolean): Unit =
    handedOut.synchronized(handedOut.asScala.toVector).filter(which).foreach(_._1.doubt())

  /** Somebody in this JVM has committed to the table, under another name perhaps. */
  private[spark] def suspect(table: UUID, through: Option[LiveTable]): Unit = {
    def isConcerned(live: LiveTable) = !through.exists(_ eq live) && live.seen.metadata.uuid.contains(table)
    slots.values.forEach(slot => if (slot.entry.forall(e => isConcerned(e.live))) slot.doubts.incrementAndGet())
    doubt { case (live, _) => isConcerned(live) }
  }

  /** The table is gone, or another took its name. */
  def remove(name: String): Unit = slots.remove(name)

  def clear(): Unit = slots.clear()

  private def entryOf(name: String): Option[Entry] = Option(slots.get(name)).flatMap(_.entry)

  private def fresh(slot: Slot, load: => Table): LiveTable = slot.synchronized {
    val entry = slot.entry.filter(isFresh(_, slot)).getOrElse {
      // First the clock and the doubts: what is committed while the answer is on its way may not be in it.
      val (askedMs, doubts) = (nowMs(), slot.doubts.get)
      Entry(renewed(slot.entry.map(_.live), load), askedMs, doubts)
    }
    slot.entry = Some(entry)
    entry.live
  }

  private def isFresh(entry: Entry, slot: Slot): Boolean =
    entry.doubts == slot.doubts.get && (expirationMs < 0 || nowMs() - entry.loadedMs < expirationMs)

  /** The same table keeps its object, which relations hold; one that was dropped and made again is another. */
  private def renewed(known: Option[LiveTable], load: => Table): LiveTable = known.filter { live =>
    val version = live.atName()
    val same = version.metadata.uuid == live.current.metadata.uuid
    if (same) live.advance(version)
    same
  }.getOrElse(new LiveTable(load))

  private def evict(): Unit = {
    val oldest = slots.asScala.toVector
      .map { case (name, slot) => (slot.entry.fold(Long.MaxValue)(_.loadedMs), name) }.sorted
    oldest.take(slots.size - capacity).foreach { case (_, name) => slots.remove(name) }
  }
}

object TableCache {

  /** Metadata of a large table takes megabytes; a job that goes through thousands of tables must not keep them all. */
  val Capacity = 500
}
