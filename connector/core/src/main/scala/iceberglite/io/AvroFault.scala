package iceberglite.io

import scala.util.control.{NoStackTrace, NonFatal}

import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.UnreadableFile

/** What is wrong with the bytes of an Avro file. It becomes an `UnreadableFile` before anybody outside sees it. */
final private[iceberglite] case class AvroFault(reason: String) extends RuntimeException(reason) with NoStackTrace

private[iceberglite] object AvroFault {
  def pastEnd: AvroFault = AvroFault("It ends in the middle of a record")

  /**
   * Runs a part of the reading of a file.
   *
   * @param role what the file is, as in "Cannot read manifest x"
   * @param advice what to do when it cannot be read
   */
  def guard[A](path: String, role: String, advice: String)(body: => A): A =
    try body
    catch { case NonFatal(e) => throw named(path, role, advice, e) }

  /** What to throw instead of a failure, with the name of the file. */
  def named(path: String, role: String, advice: String, failure: Throwable): Throwable = failure match {
    case e: UnreadableFile => e.copy(role = role, reason = s"${e.reason}. $advice")
    case e: IcebergError => e
    case AvroFault(reason) => UnreadableFile(path, role, s"$reason. $advice")
    // Codecs and the schema parser have exceptions of their own for bytes that make no sense.
    case e => UnreadableFile(path, role, s"It is damaged (${describe(e)}). $advice", Some(e))
  }

  private def describe(e: Throwable): String = Option(e.getMessage).getOrElse(e.getClass.getSimpleName)
}
