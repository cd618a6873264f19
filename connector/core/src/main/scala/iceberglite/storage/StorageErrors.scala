package iceberglite.storage

import java.io.{FileNotFoundException, InterruptedIOException}
import java.nio.channels.ClosedByInterruptException
import java.nio.file.{AccessDeniedException, FileAlreadyExistsException, FileSystemException, NoSuchFileException}
import java.util.zip.ZipException

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{ChecksumException, UnsupportedFileSystemException}
import org.apache.hadoop.security.AccessControlException

import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{StorageFailed, UnreadableFile}

/** Converts exceptions of storages to [[IcebergError]]. */
private[iceberglite] object StorageErrors {

  /** Runs a read operation; a failure becomes an `UnreadableFile`. */
  def wrapReadErrors[A](path: String)(body: => A): A =
    try body
    catch {
      case e: IcebergError => throw e
      case NonFatal(e) => throw UnreadableFile(path, "file", reason(e), Some(e))
    }

  /** Runs an operation other than a read; a failure becomes a `StorageFailed`. */
  def wrapErrors[A](operation: String, path: String)(body: => A): A =
    try body
    catch {
      case e: IcebergError => throw e
      case NonFatal(e) => throw storageFailed(operation, path, e)
    }

  /**
   * Runs a cleanup after a failed operation, or closes a resource that is no longer needed. A failure of the cleanup is
   * ignored, because the failure of the operation must be reported instead. If users should know about a failure of the
   * cleanup, [[iceberglite.table.Cleanup.quietly]] must be used, which also logs the failure.
   */
  def quietly(cleanup: => Any): Unit =
    try {
      cleanup
      ()
    } catch { case NonFatal(_) => () }

  def storageFailed(operation: String, path: String, e: Throwable): StorageFailed =
    StorageFailed.at(operation, path, reason(e), Some(e))

  /** Returns whether a failure means that the file does not exist. The result is false if access was denied. */
  def isMissing(e: Throwable): Boolean = e match {
    case _: NoSuchFileException => true
    case f: FileNotFoundException => !isDeniedByText(f)
    // This is the error ENOTDIR. It means that a directory in the path is actually a file, so the path does not exist.
    case f: FileSystemException => Option(f.getReason).contains("Not a directory")
    case _ => false
  }

  /**
   * Returns whether a file is certainly missing or damaged. The result is false if the storage failed or denied access,
   * or if the file is longer than this driver may read, because another attempt to read the file may then succeed.
   */
  def isDamage(e: UnreadableFile): Boolean = e.cause.exists {
    case _: ZipException | _: ChecksumException => true
    case cause => isMissing(cause)
  }

  private def reason(e: Throwable): String = e match {
    case _: AccessDeniedException | _: AccessControlException => accessDenied
    case f: FileNotFoundException if isDeniedByText(f) => accessDenied
    case _ if isMissing(e) => "It does not exist"
    case _: FileAlreadyExistsException | _: org.apache.hadoop.fs.FileAlreadyExistsException => "It exists already"
    case _: ClosedByInterruptException | _: InterruptedIOException => "The thread was interrupted"
    case _: UnsupportedFileSystemException =>
      s"${e.getMessage}. Add the jar of that file system to the session, such as hadoop-aws for s3a"
    case _ if isFull(e) =>
      s"${describe(e)}. Free space on that storage or raise the quota, then run the statement again"
    case _ => describe(e)
  }

  private def describe(e: Throwable): String =
    Option(e.getMessage).fold(e.getClass.getName)(m => s"$m (${e.getClass.getSimpleName})")

  /**
   * Returns whether a failure means that the storage is full. The JDK and Hadoop have no exception class for this
   * error, so the method matches the message of the operating system or of HDFS.
   */
  private def isFull(e: Throwable): Boolean = Option(e.getMessage).exists { text =>
    Seq("No space left on device", "Disk quota exceeded", "quota of", "not enough space").exists(text.contains)
  }

  /**
   * Returns whether the exception means that access was denied. In this case, `java.io` and Hadoop's local file system
   * also throw a `FileNotFoundException`. Only the message shows the reason.
   */
  private def isDeniedByText(e: FileNotFoundException): Boolean =
    Option(e.getMessage).exists(_.contains("(Permission denied)"))

  private def accessDenied: String =
    s"Access was denied to the user ${System.getProperty("user.name")}. Check the permissions of the file and of its " +
      "directory"
}
