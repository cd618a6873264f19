package iceberglite.puffin

import scala.util.control.NoStackTrace

/**
 * Describes an error in the bytes of a blob. It is converted to `UnreadableFile` before it reaches callers outside of
 * this package.
 */
final private[puffin] case class DamagedBlob(reason: String) extends RuntimeException(reason) with NoStackTrace
