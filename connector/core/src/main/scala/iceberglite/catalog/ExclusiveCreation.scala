package iceberglite.catalog

import java.util.Arrays

import scala.util.control.NonFatal

import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{CommitStateUnknown, StorageFailed}
import iceberglite.storage.FileIO

/**
 * Creates the metadata files of commits in a file-system catalog. Each file is created exclusively, so that only one of
 * several concurrent writers succeeds.
 *
 * @param name the name of the table or view, for messages
 */
final private[catalog] class ExclusiveCreation(io: FileIO, name: String) {

  /**
   * Creates the file. If it is unclear whether the call succeeded, the content of the file shows which commit created
   * the file.
   *
   * @return false if another commit created the file
   */
  def create(path: String, contents: Array[Byte]): Boolean = tryCreate(path, contents) match {
    case Right(true) => true
    // Storage that retries a successful request may report that the file already exists.
    case Right(false) => isOwnFile(path, contents).getOrElse(false)
    case Left(failed: StorageFailed) => isOwnFile(path, contents).getOrElse(throw failed)
    case Left(unclear: CommitStateUnknown) => retryCreate(path, contents, unclear)
    case Left(definite: IcebergError) => throw definite
    case Left(NonFatal(e)) => retryCreate(path, contents, e)
    case Left(fatal) => throw unknown(path, fatal.toString, Some(fatal))
  }

  /**
   * Retries the creation with the same name and content. If the file exists afterwards, its content shows which commit
   * created the file. If not, the outcome is unknown.
   */
  private def retryCreate(path: String, contents: Array[Byte], failure: Throwable): Boolean =
    isOwnFile(path, contents).getOrElse {
      tryCreate(path, contents).toOption.filter(identity).orElse(isOwnFile(path, contents))
        .getOrElse(throw unknown(path, String.valueOf(failure.getMessage), Some(failure)))
    }

  private def tryCreate(path: String, contents: Array[Byte]): Either[Throwable, Boolean] =
    try Right(io.createExclusively(path, contents))
    catch { case e: Throwable => Left(e) }

  /** Whether this commit created the file; `None` if the file does not exist. */
  private def isOwnFile(path: String, contents: Array[Byte]): Option[Boolean] =
    orUnknown(path)(VersionFiles.ifExists(io, path)(io.read(path)).map(Arrays.equals(_, contents)))

  /** Runs a check after a commit that may have succeeded. If the check fails, the outcome of the commit is unknown. */
  def orUnknown[A](path: String)(check: => A): A =
    try check
    catch {
      case unknownState: CommitStateUnknown => throw unknownState
      case e: Throwable => throw unknown(path, s"the metadata cannot be read (${e.getMessage})", Some(e))
    }

  def unknown(path: String, reason: String, cause: Option[Throwable]): CommitStateUnknown =
    CommitStateUnknown(name, Some(path), reason, cause)
}
