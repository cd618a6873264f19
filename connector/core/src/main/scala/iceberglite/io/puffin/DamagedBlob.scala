package iceberglite.io.puffin

import scala.util.control.NoStackTrace

/** What is wrong with the bytes of a blob. It becomes an `UnreadableFile` before anybody outside sees it. */
final private[puffin] case class DamagedBlob(reason: String) extends RuntimeException(reason) with NoStackTrace
