package iceberglite.catalog.rest

import java.util

import iceberglite.table.{TableIdentifier, TableVersion}

/**
 * A cache of tables with their ETags. If the server reports a table as unchanged, it does not send the metadata again.
 *
 * @param capacity maximum number of tables; the least recently used one is removed first
 */
final private[catalog] class LoadedTables(capacity: Int, expirationMs: Long, nowMs: () => Long) {
  import LoadedTables.Entry

  private val entries = new util.LinkedHashMap[(TableIdentifier, Boolean), Entry](16, 0.75f, true)

  /** Returns a cached table. @param refsOnly whether it was loaded only with the snapshots of references */
  def get(id: TableIdentifier, refsOnly: Boolean): Option[Entry] = synchronized {
    Option(entries.get((id, refsOnly))).filter(e =>
      nowMs() - e.loadedMs < expirationMs && e.expiresMs.forall(_ > nowMs())
    )
  }

  /** Caches a table. @param expiresMs the expiration of its storage credentials, after which it must be loaded again */
  def put(id: TableIdentifier, refsOnly: Boolean, etag: String, version: TableVersion, expiresMs: Option[Long]): Unit =
    synchronized {
      entries.put((id, refsOnly), Entry(etag, version, nowMs(), expiresMs))
      while (entries.size > capacity) {
        val oldest = entries.keySet.iterator
        oldest.next()
        oldest.remove()
      }
    }

  def invalidate(id: TableIdentifier): Unit = synchronized {
    Seq(true, false).foreach(refsOnly => entries.remove((id, refsOnly)))
  }
}

private[catalog] object LoadedTables {
  final case class Entry(etag: String, version: TableVersion, loadedMs: Long, expiresMs: Option[Long])
}
