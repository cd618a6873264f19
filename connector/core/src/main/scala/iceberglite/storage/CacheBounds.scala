package iceberglite.storage

/**
 * Limits of the cache for immutable files.
 *
 * @param maxBytes maximum total size of the cached files, as an estimate of the memory they use; if absent, a share of
 *   the heap
 * @param maxFileBytes maximum size of a cached file; longer files are read each time
 * @param idleMs time after the last access at which an entry is evicted
 */
final case class CacheBounds(
    maxBytes: Option[Long] = None,
    maxFileBytes: Option[Long] = None,
    idleMs: Option[Long] = None
)

object CacheBounds {
  val Default: CacheBounds = CacheBounds()
}
