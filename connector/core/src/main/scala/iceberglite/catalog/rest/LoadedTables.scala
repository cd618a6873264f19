package iceberglite.catalog.rest

import iceberglite.storage.LruCache
import iceberglite.table.{TableIdentifier, TableVersion}

/**
 * A cache of tables with their ETags. A request with the ETag of a cached table is answered without the metadata if the
 * table is unchanged.
 *
 * @param capacity maximum number of tables; the least recently used table is removed first
 */
final private[catalog] class LoadedTables(capacity: Int, expirationMs: Long, nowMs: () => Long) {
  import LoadedTables.Entry

  private val limits = LruCache.Limits.ofCount(capacity)
  private val entries = new LruCache[(TableIdentifier, Boolean), Entry]

  /** Returns a cached table. @param refsOnly whether the table has only the snapshots of branches and tags */
  def get(id: TableIdentifier, refsOnly: Boolean): Option[Entry] =
    entries.get((id, refsOnly)).filter(e =>
      nowMs() - e.loadedMs < expirationMs && e.expiresMs.forall(_ > nowMs())
    )

  /** Caches a table. @param expiresMs the time at which its storage credentials expire and it must be loaded again */
  def put(id: TableIdentifier, refsOnly: Boolean, etag: String, version: TableVersion, expiresMs: Option[Long]): Unit =
    entries.put((id, refsOnly), Entry(etag, version, nowMs(), expiresMs), 1L, limits)

  def invalidate(id: TableIdentifier): Unit = entries.remove(_._1 == id)
}

private[catalog] object LoadedTables {
  final case class Entry(etag: String, version: TableVersion, loadedMs: Long, expiresMs: Option[Long])
}
