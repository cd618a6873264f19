package iceberglite.table

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import iceberglite.io.FileIO
import iceberglite.spec.Redaction

/** Work after the outcome of a commit is certain: its failures are worth a line in the log, and nothing more. */
object Cleanup {
  private val log = LoggerFactory.getLogger("iceberglite.table.Cleanup")

  /** Removes files that no committed metadata refers to. */
  def delete(io: FileIO, paths: Iterable[String]): Unit =
    paths.foreach(path => quietly(s"remove $path")(io.delete(path)))

  /** Runs something that may fail without harm. */
  def quietly(what: String)(body: => Unit): Unit =
    try body
    catch { case NonFatal(e) => log.warn(Redaction(s"Could not $what: ${e.getMessage}")) }
}
