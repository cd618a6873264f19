package iceberglite.data

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import iceberglite.avro.AvroFault
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{StorageFailed, UnreadableFile}

/** Converts exceptions of the format libraries to errors that name the file. */
private[iceberglite] object FileFaults {

  /** The noun before the path in an error message, as in "Cannot read file x". */
  val Role = "file"

  /** Returns the full path of a field for messages. */
  def column(path: Vector[String]): String = path.mkString(".")

  private val log = LoggerFactory.getLogger(FileFaults.getClass)

  /** Messages of exhausted memory that no length in a file can cause. */
  private val Unrelated = Seq("Metaspace", "Compressed class space", "native thread", "GC overhead limit")

  /**
   * Matches an error of exhausted memory or stack that a file can cause, also as a cause: Spark's vectors wrap it in a
   * `RuntimeException`.
   */
  object Exhausted {
    def unapply(e: Throwable): Option[Throwable] =
      Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(10).collectFirst {
        case memory: OutOfMemoryError if !Unrelated.exists(String.valueOf(memory.getMessage).contains) => memory
        case stack: StackOverflowError => stack
      }
  }

  def wrapReadErrors[A](path: String)(body: => A): A =
    try body
    catch { case e: Throwable => throw unreadable(path, e) }

  /**
   * Converts a failure to an `UnreadableFile`. An `IcebergError` is returned unchanged. Fatal errors are also returned
   * unchanged, except those that [[Exhausted]] matches: damaged lengths can make a library request more memory than
   * available, and damaged schemas can cause infinite recursion. The process can continue safely after these errors.
   * They are logged, but are not the causes of the result, because Spark ends an executor if a task fails with such a
   * cause.
   */
  def unreadable(path: String, e: Throwable): Throwable = e match {
    case e: IcebergError => e
    case AvroFault(reason) => UnreadableFile(path, Role, reason)
    case Exhausted(error) =>
      log.warn(s"The memory is not sufficient to read the file $path", e)
      UnreadableFile(
        path,
        Role,
        s"The file is damaged, or has a value that is too large for the memory of this process (${describe(error)})"
      )
    case NonFatal(_) => UnreadableFile(path, Role, s"The file is damaged or truncated (${describe(e)})", Some(e))
    case other => other
  }

  def wrapWriteErrors[A](path: String)(body: => A): A =
    try body
    catch { case NonFatal(e) => throw unwritable(path, e) }

  def unwritable(path: String, e: Throwable): Throwable = e match {
    case e: IcebergError => e
    case NonFatal(_) => StorageFailed.at("write", path, describe(e), Some(e))
    case other => other
  }

  private def describe(e: Throwable): String =
    Option(e.getMessage).fold(e.getClass.getSimpleName)(m => s"${e.getClass.getSimpleName}: $m")
}
