package iceberglite.spark.catalog

import java.util.concurrent.ConcurrentHashMap

import scala.collection.JavaConverters._

import iceberglite.spark.LiveTable
import iceberglite.table.Table

/**
 * The tables of one catalog that were loaded lately. An entry is loaded anew when it is `expirationMs` old, however
 * often it is asked for, so that a busy table is never staler than that.
 *
 * @param expirationMs 0 keeps nothing; a negative value keeps for ever
 */
final class TableCache(
    expirationMs: Long,
    nowMs: () => Long = () => System.currentTimeMillis,
    capacity: Int = TableCache.Capacity
) {
  private case class Entry(live: LiveTable, loadedMs: Long, expired: Boolean = false)

  private val entries = new ConcurrentHashMap[String, Entry]

  /** The table of that name, loaded if need be. Failures of `load` are not remembered. */
  def table(name: String)(load: => Table): LiveTable =
    if (expirationMs == 0) new LiveTable(load)
    else {
      val entry = entries.compute(
        name,
        (_, known) => if (known != null && isFresh(known)) known else renew(Option(known), load)
      )
      if (entries.size > capacity) evict()
      entry.live
    }

  /** The table as it was last seen. */
  def known(name: String): Option[Table] = Option(entries.get(name)).map(_.live.current)

  /** What others committed shows when the table is next asked for. */
  def invalidate(name: String): Unit = entries.computeIfPresent(name, (_, e) => e.copy(expired = true))

  /** The table is gone, or another took its name. */
  def remove(name: String): Unit = entries.remove(name)

  def clear(): Unit = entries.clear()

  private def isFresh(entry: Entry): Boolean =
    !entry.expired && (expirationMs < 0 || nowMs() - entry.loadedMs < expirationMs)

  /** The same table keeps its object, which relations hold; one that was dropped and made again is another. */
  private def renew(known: Option[Entry], load: => Table): Entry = {
    val fresh = load
    val same = known.map(_.live).filter(_.current.metadata.uuid == fresh.metadata.uuid)
    same.foreach(_.advance(fresh.version))
    Entry(same.getOrElse(new LiveTable(fresh)), nowMs())
  }

  private def evict(): Unit = {
    val oldest = entries.asScala.toVector.sortBy(_._2.loadedMs).take(entries.size - capacity)
    oldest.foreach { case (name, _) => entries.remove(name) }
  }
}

object TableCache {

  /** Metadata of a large table takes megabytes; a job that goes through thousands of tables must not keep them all. */
  val Capacity = 500
}
