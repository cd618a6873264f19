package iceberglite.storage

/**
 * Limits of the cache for immutable files.
 *
 * @param maxBytes maximum estimated memory use of all cached files, in bytes; if absent, 15 % of the heap, but at most
 *   512 MB
 * @param maxFileBytes maximum size of a cached file in bytes; longer files are not cached
 * @param idleMs time in milliseconds after which an entry that has not been accessed is evicted
 */
final case class CacheBounds(
    maxBytes: Option[Long] = None,
    maxFileBytes: Option[Long] = None,
    idleMs: Option[Long] = None
)

object CacheBounds {
  val Default: CacheBounds = CacheBounds()
}
