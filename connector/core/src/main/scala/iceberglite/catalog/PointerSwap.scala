package iceberglite.catalog

import scala.annotation.tailrec
import scala.util.control.NonFatal
import scala.util.{Failure, Success, Try}

import iceberglite.catalog.PointerMove._
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{CommitConflict, CommitStateUnknown}
import iceberglite.storage.FileIO
import iceberglite.table.{Cleanup, Environment, RetryPolicy}

/** An object to which a pointer can refer. */
private[catalog] trait Pointed[V] {
  def location(state: V): String
  def contents(state: V): Array[Byte]
  def properties(state: V): Map[String, String]

  /** Returns the previous files of the one at `path`, as far back as its log goes. */
  def log(io: FileIO, path: String): Vector[String]
}

/**
 * The commit of a catalog with pointers: writes the new metadata file, then moves the pointer to it.
 *
 * A commit has one of three results: it succeeded; or it failed, and its file is deleted; or its outcome is unknown,
 * and everything is kept. After a lost response, the same move is repeated: the catalog performs it if it had not done
 * so, and otherwise reports the current file.
 *
 * @param name the name of the table or view, for messages
 * @param warehouse the location of tables, for the message if files cannot be written
 */
final private[catalog] class PointerSwap[V](
    name: String,
    pointer: Pointer[V],
    pointed: Pointed[V],
    io: FileIO,
    environment: Environment,
    warehouse: String
) {

  /**
   * Commits.
   *
   * @param base the required state of the pointer; `None` creates it
   * @throws CommitConflict the pointer was at another location, or the catalog was busy
   * @throws CommitStateUnknown the outcome is unknown
   */
  def commit(base: Option[V], next: V): Unit = new Commit(base, next).run()

  final private class Commit(base: Option[V], next: V) {
    private val ours = pointed.location(next)
    private lazy val patience = RetryPolicy.statusChecks(pointed.properties(next), environment)

    def run(): Unit = {
      write()
      move() match {
        case Right(Done) => ()
        case Right(Elsewhere) => if (!isDone) throw conflict("the catalog now points to another metadata file")
        case Right(Busy(reason)) => throw conflict(s"the catalog is busy ($reason)")
        case Right(Lost(cause)) => again(cause)
        case Left(known: CommitStateUnknown) => throw known
        case Left(refused: IcebergError) =>
          withdraw()
          throw refused
        case Left(other) => throw unknown(other)
      }
    }

    private def write(): Unit =
      try Warehouse.using(warehouse)(io.write(ours, pointed.contents(next)))
      catch {
        case failure: Throwable =>
          withdraw()
          throw failure
      }

    /** From here on, an earlier attempt may have succeeded, or may still succeed. */
    @tailrec
    private def again(cause: Throwable): Unit = move() match {
      case Right(Done) => ()
      case Right(Elsewhere) => if (!happened()) throw conflict("another commit came first")
      case Right(Busy(_) | Lost(_)) | Left(_: IcebergError) =>
        if (waits()) again(cause) else throw unknown(cause)
      case Left(other) => throw unknown(other)
    }

    private def move(): Either[Throwable, PointerMove] =
      try Right(base.fold(pointer.create(next))(pointer.swap(_, next)))
      catch { case failure: Throwable => Left(failure) }

    /**
     * Whether our commit succeeded. A driver with its own retries may report that its first attempt won; meanwhile
     * others may have committed on top of it, with our file in their log.
     */
    private def isDone: Boolean = orUnknown {
      val now = pointer.read()
      now.contains(ours) || now.exists(path => !isBase(path) && loggedAt(path).contains(ours))
    }

    /**
     * Whether an earlier attempt succeeded: the pointer is at our file, or another commit is based on it. Another
     * commit on our base proves that it failed, and cannot succeed any more.
     */
    private def happened(): Boolean = orUnknown {
      val now = pointer.read()
      now.contains(ours) || {
        val log = now.fold(Vector.empty[String])(loggedAt)
        val excluded = base.exists(b => log.contains(pointed.location(b)))
        if (!log.contains(ours) && !excluded) {
          val seen = now.fold("it is no longer in the catalog")(path => s"the catalog points to $path")
          throw unknown(new IllegalStateException(seen))
        }
        log.contains(ours)
      }
    }

    private def isBase(path: String): Boolean = base.exists(pointed.location(_) == path)

    /**
     * Reads the newest file. A missing file was superseded and deleted by other commits: then the new newest file
     * tells.
     */
    @tailrec
    private def loggedAt(path: String): Vector[String] = Try(path +: pointed.log(io, path)) match {
      case Success(log) => log
      case Failure(failure) => pointer.read().filter(_ != path) match {
          case Some(newer) => loggedAt(newer)
          case None => throw failure
        }
    }

    private def orUnknown[A](look: => A): A =
      try look
      catch {
        case known: CommitStateUnknown => throw known
        case NonFatal(e) => throw unknown(e)
      }

    private def waits(): Boolean =
      try patience.waitForNext()
      catch {
        case _: InterruptedException =>
          Thread.currentThread.interrupt()
          false
      }

    private def conflict(reason: String): CommitConflict = {
      withdraw()
      CommitConflict(name, reason)
    }

    private def withdraw(): Unit = Cleanup.delete(io, Vector(ours))

    private def unknown(cause: Throwable): CommitStateUnknown =
      CommitStateUnknown(name, ours, Option(cause.getMessage).getOrElse(cause.toString), Some(cause))
  }
}
