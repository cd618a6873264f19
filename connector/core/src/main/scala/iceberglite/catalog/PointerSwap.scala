package iceberglite.catalog

import scala.annotation.tailrec
import scala.util.control.NonFatal
import scala.util.{Failure, Success, Try}

import iceberglite.catalog.PointerMove._
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{CommitConflict, CommitStateUnknown}
import iceberglite.storage.FileIO
import iceberglite.table.{Cleanup, Environment, RetryPolicy}

/** The operations on the metadata to which a pointer refers: the metadata of a table or of a view. */
private[catalog] trait PointerTarget[V] {

  /** Returns the location of the metadata file. */
  def location(state: V): String

  /** Returns the bytes of the metadata file. */
  def contents(state: V): Array[Byte]
  def properties(state: V): Map[String, String]

  /** Returns the previous metadata files that the metadata log of the file at `path` lists. */
  def log(io: FileIO, path: String): Vector[String]
}

/**
 * Commits in a catalog that stores pointers: writes the new metadata file, and then moves the pointer to this file.
 *
 * A commit has one of three results. Either it succeeds, or it fails and its metadata file is deleted, or its outcome
 * is unknown and no file is deleted. If the response to a move is lost, the same move is retried. If the first attempt
 * had no effect, the retry moves the pointer. If the retry finds that the pointer has already moved, the metadata file
 * to which the pointer now refers shows whether the first attempt succeeded.
 *
 * @param name the name of the table or view, for messages
 * @param warehouse the location of tables, for the error message if files cannot be written
 */
final private[catalog] class PointerSwap[V](
    name: String,
    pointer: Pointer[V],
    target: PointerTarget[V],
    io: FileIO,
    environment: Environment,
    warehouse: String
) {

  /**
   * Writes the new metadata file and moves the pointer to it.
   *
   * @param base the metadata to which the pointer must refer; `None` creates the pointer
   * @throws CommitConflict if the pointer was at another location, or if the catalog was busy
   * @throws CommitStateUnknown if the outcome is unknown
   */
  def commit(base: Option[V], next: V): Unit = new Commit(base, next).run()

  final private class Commit(base: Option[V], next: V) {
    private val newFile = target.location(next)
    private lazy val retryPolicy = RetryPolicy.statusChecks(target.properties(next), environment)

    def run(): Unit = {
      write()
      move() match {
        case Right(Succeeded) => ()
        case Right(Conflict) => if (!hasSucceeded) throw conflict("the catalog now points to another metadata file")
        case Right(Busy(reason)) => throw conflict(s"the catalog is busy ($reason)")
        case Right(Unknown(cause)) => retryMove(cause)
        case Left(unknownState: CommitStateUnknown) => throw unknownState
        case Left(error: IcebergError) =>
          deleteNewFile()
          throw error
        case Left(other) => throw unknown(other)
      }
    }

    private def write(): Unit =
      try Warehouse.using(warehouse)(io.write(newFile, target.contents(next)))
      catch {
        case failure: Throwable =>
          deleteNewFile()
          throw failure
      }

    /** Retries the move after an attempt that may have succeeded, or may still succeed. */
    @tailrec
    private def retryMove(cause: Throwable): Unit = move() match {
      case Right(Succeeded) => ()
      case Right(Conflict) => if (!earlierAttemptSucceeded()) throw conflict("another commit came first")
      case Right(Busy(_) | Unknown(_)) | Left(_: IcebergError) =>
        if (waitForRetry()) retryMove(cause) else throw unknown(cause)
      case Left(other) => throw unknown(other)
    }

    private def move(): Either[Throwable, PointerMove] =
      try Right(base.fold(pointer.create(next))(pointer.swap(_, next)))
      catch { case failure: Throwable => Left(failure) }

    /**
     * Whether this commit succeeded although the catalog reported a conflict. The client library of the catalog, such
     * as a JDBC driver, may have retried a successful request. The retry then conflicts with the first attempt. If
     * other writers have committed since then, the metadata logs of their metadata files list the file of this commit.
     */
    private def hasSucceeded: Boolean = orUnknown {
      val current = pointer.read()
      current.contains(newFile) || current.exists(path => !isBase(path) && pathAndLog(path).contains(newFile))
    }

    /**
     * Whether an earlier attempt of this commit succeeded. An attempt succeeded if the pointer is at the new file, or
     * if another commit is based on the new file. If another commit is based on the base of this commit, all attempts
     * failed, and no attempt can still succeed. In all other cases, `CommitStateUnknown` is thrown.
     */
    private def earlierAttemptSucceeded(): Boolean = orUnknown {
      val current = pointer.read()
      current.contains(newFile) || {
        val log = current.fold(Vector.empty[String])(pathAndLog)
        val isRuledOut = base.exists(b => log.contains(target.location(b)))
        if (!log.contains(newFile) && !isRuledOut) {
          val reason = current.fold(s"$name is no longer in the catalog")(path => s"the catalog points to $path")
          throw unknown(new IllegalStateException(reason))
        }
        log.contains(newFile)
      }
    }

    private def isBase(path: String): Boolean = base.exists(target.location(_) == path)

    /**
     * Returns `path` and the files in the metadata log of this file. If the file cannot be read and the pointer has
     * moved, other commits have replaced and deleted the file. In this case, the file to which the pointer now refers
     * is used instead.
     */
    @tailrec
    private def pathAndLog(path: String): Vector[String] = Try(path +: target.log(io, path)) match {
      case Success(log) => log
      case Failure(failure) => pointer.read().filter(_ != path) match {
          case Some(newer) => pathAndLog(newer)
          case None => throw failure
        }
    }

    private def orUnknown[A](check: => A): A =
      try check
      catch {
        case unknownState: CommitStateUnknown => throw unknownState
        case NonFatal(e) => throw unknown(e)
      }

    private def waitForRetry(): Boolean =
      try retryPolicy.waitForNext()
      catch {
        case _: InterruptedException =>
          Thread.currentThread.interrupt()
          false
      }

    /** Deletes the new metadata file, and returns the error for a conflict. */
    private def conflict(reason: String): CommitConflict = {
      deleteNewFile()
      CommitConflict(name, reason)
    }

    private def deleteNewFile(): Unit = Cleanup.delete(io, Vector(newFile))

    private def unknown(cause: Throwable): CommitStateUnknown =
      CommitStateUnknown(name, Some(newFile), Option(cause.getMessage).getOrElse(cause.toString), Some(cause))
  }
}
