package iceberglite.avro

import scala.util.control.{NoStackTrace, NonFatal}

import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.UnreadableFile

/**
 * An error in the bytes of an Avro file. The readers of files convert it to `UnreadableFile`, which names the file,
 * before it reaches users.
 */
final private[iceberglite] case class AvroFault(reason: String) extends RuntimeException(reason) with NoStackTrace

private[iceberglite] object AvroFault {
  def truncated: AvroFault = AvroFault("The file ends in the middle of a record")

  /**
   * Runs a read operation on a file and converts its failures.
   *
   * @param role the kind of the file for messages, such as `manifest`
   * @param advice what the user can do if the file cannot be read
   */
  def guard[A](path: String, role: String, advice: String)(body: => A): A =
    try body
    catch { case NonFatal(e) => throw toError(path, role, advice, e) }

  /** Converts a failure to an error that names the file. */
  def toError(path: String, role: String, advice: String, failure: Throwable): Throwable = failure match {
    case e: UnreadableFile => e.copy(role = role, reason = s"${e.reason}. $advice")
    case e: IcebergError => e
    case AvroFault(reason) => UnreadableFile(path, role, s"$reason. $advice")
    // For malformed bytes, codecs and the schema parser throw exceptions of other classes.
    case e => UnreadableFile(path, role, s"The file is damaged (${describe(e)}). $advice", Some(e))
  }

  private def describe(e: Throwable): String = Option(e.getMessage).getOrElse(e.getClass.getSimpleName)
}
