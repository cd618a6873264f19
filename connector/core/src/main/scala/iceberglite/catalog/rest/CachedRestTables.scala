package iceberglite.catalog.rest

import iceberglite.storage.LruCache
import iceberglite.table.{TableIdentifier, TableVersion}

/**
 * A cache of tables with their ETags. If a request contains the ETag of a cached table and the table is unchanged, the
 * server responds without the metadata.
 *
 * @param capacity maximum number of tables; the least recently used table is removed first
 * @param expirationMs the time in milliseconds after which a cached table is no longer used
 */
final private[catalog] class CachedRestTables(capacity: Int, expirationMs: Long, nowMs: () => Long) {
  import CachedRestTables.Entry

  private val limits = LruCache.Limits.ofCount(capacity)
  private val entries = new LruCache[(TableIdentifier, Boolean), Entry]

  /**
   * Returns a cached table.
   *
   * @param refsOnly whether the cached metadata has only the snapshots to which branches and tags refer
   */
  def get(id: TableIdentifier, refsOnly: Boolean): Option[Entry] =
    entries.get((id, refsOnly)).filter(e =>
      nowMs() - e.loadedMs < expirationMs && e.expiresMs.forall(_ > nowMs())
    )

  /**
   * Caches a table.
   *
   * @param expiresMs the time, in milliseconds since 1970, at which the table's storage credentials expire. The table
   *   must then be loaded again
   */
  def put(id: TableIdentifier, refsOnly: Boolean, etag: String, version: TableVersion, expiresMs: Option[Long]): Unit =
    entries.put((id, refsOnly), Entry(etag, version, nowMs(), expiresMs), 1L, limits)

  def invalidate(id: TableIdentifier): Unit = entries.remove(_._1 == id)
}

private[catalog] object CachedRestTables {
  final case class Entry(etag: String, version: TableVersion, loadedMs: Long, expiresMs: Option[Long])
}
