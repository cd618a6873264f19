package iceberglite.io

/**
 * How much of what was read of files that never change is kept.
 *
 * @param maxBytes an estimate of the memory for all of it; without one, a share of the heap
 * @param maxFileBytes longer files are read again each time
 * @param idleMs what nobody has asked for in that time goes
 */
final case class CacheBounds(
    maxBytes: Option[Long] = None,
    maxFileBytes: Option[Long] = None,
    idleMs: Option[Long] = None
)

object CacheBounds {
  val Default: CacheBounds = CacheBounds()
}
