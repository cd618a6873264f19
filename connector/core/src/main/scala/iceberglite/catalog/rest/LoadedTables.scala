package iceberglite.catalog.rest

import java.util

import iceberglite.table.{TableIdentifier, TableVersion}

/**
 * Tables as the server gave them, by its ETag: where it says that a table is unchanged, its metadata is not sent again.
 *
 * @param capacity how many are kept; the one that was not asked for the longest goes first
 */
final private[catalog] class LoadedTables(capacity: Int, expirationMs: Long, nowMs: () => Long) {
  import LoadedTables.Entry

  private val entries = new util.LinkedHashMap[(TableIdentifier, Boolean), Entry](16, 0.75f, true)

  /** @param refsOnly whether it was loaded with the snapshots of references only */
  def known(id: TableIdentifier, refsOnly: Boolean): Option[Entry] = synchronized {
    Option(entries.get((id, refsOnly))).filter(e => nowMs() - e.loadedMs < expirationMs && e.until.forall(_ > nowMs()))
  }

  /** @param until when the access that came with it ends, so that it must be loaded anew */
  def keep(id: TableIdentifier, refsOnly: Boolean, etag: String, version: TableVersion, until: Option[Long]): Unit =
    synchronized {
      entries.put((id, refsOnly), Entry(etag, version, nowMs(), until))
      while (entries.size > capacity) {
        val oldest = entries.keySet.iterator
        oldest.next()
        oldest.remove()
      }
    }

  def forget(id: TableIdentifier): Unit = synchronized {
    Seq(true, false).foreach(refsOnly => entries.remove((id, refsOnly)))
  }
}

private[catalog] object LoadedTables {
  final case class Entry(etag: String, version: TableVersion, loadedMs: Long, until: Option[Long])
}
