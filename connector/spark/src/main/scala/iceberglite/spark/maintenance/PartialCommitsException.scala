package iceberglite.spark.maintenance

import scala.reflect.ClassTag

/**
 * The commits of a rewrite that succeeded before a later commit failed. This exception is added to the error of the
 * rewrite as a suppressed exception, so that the error keeps its type and its message.
 *
 * @param result the result of these commits, of the same type as the result of the rewrite
 */
final private[maintenance] class PartialCommitsException(val result: Any)
    extends RuntimeException(s"Commits that succeeded before the error: $result")

private[maintenance] object PartialCommitsException {

  /** Adds the result of the commits that succeeded before an error to this error. @return the error */
  def addTo(error: Throwable, result: Option[Any]): Throwable = {
    result.foreach(r => error.addSuppressed(new PartialCommitsException(r)))
    error
  }

  /** Returns the result of the commits that succeeded before an error; absent if there are none. */
  def of[R: ClassTag](error: Throwable): Option[R] =
    error.getSuppressed.toVector.collect { case commits: PartialCommitsException => commits.result }
      .collectFirst { case result: R => result }
}
