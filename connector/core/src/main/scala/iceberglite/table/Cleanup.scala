package iceberglite.table

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import iceberglite.spec.Redaction
import iceberglite.storage.FileIO

/** Deletes files after the outcome of a commit is known. Failures are logged and otherwise ignored. */
object Cleanup {
  private val log = LoggerFactory.getLogger("iceberglite.table.Cleanup")

  /** Deletes files that no committed metadata refers to. */
  def delete(io: FileIO, paths: Iterable[String]): Unit = {
    deleteOrList(io, paths)
    ()
  }

  /** Deletes files. @return the paths of the files that could not be deleted */
  def deleteOrList(io: FileIO, paths: Iterable[String]): Vector[String] =
    io.deleteAll(paths.toVector).map { failed =>
      log.warn(Redaction(s"Could not delete ${failed.path}: ${failed.error.getMessage}"))
      failed.path
    }

  /** Runs an operation whose failure is only logged. @param what completes the log message "Could not ..." */
  def quietly(what: String)(body: => Unit): Unit = {
    succeeds(what)(body)
    ()
  }

  /** Runs an operation and logs its failure. @return whether it succeeded */
  private def succeeds(what: String)(body: => Unit): Boolean =
    try {
      body
      true
    } catch {
      case NonFatal(e) =>
        log.warn(Redaction(s"Could not $what: ${e.getMessage}"))
        false
    }
}
