package iceberglite.storage

import scala.util.control.NonFatal

/** A file that could not be deleted. @param error the error that the storage reported */
final case class FailedDeletion(path: String, error: Throwable)

object FailedDeletion {

  /** Deletes a file. @return the failure; absent if the file was deleted */
  def of(path: String)(delete: => Unit): Option[FailedDeletion] =
    try {
      delete
      None
    } catch { case NonFatal(e) => Some(FailedDeletion(path, e)) }
}
