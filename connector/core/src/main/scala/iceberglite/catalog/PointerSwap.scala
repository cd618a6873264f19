package iceberglite.catalog

import scala.annotation.tailrec
import scala.util.control.NonFatal
import scala.util.{Failure, Success, Try}

import iceberglite.catalog.PointerMove._
import iceberglite.io.FileIO
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{CommitConflict, CommitStateUnknown}
import iceberglite.table.{Cleanup, Environment, Patience}

/** What a pointer can point to. */
private[catalog] trait Pointed[V] {
  def location(state: V): String
  def contents(state: V): Array[Byte]
  def properties(state: V): Map[String, String]

  /** The files that were current before the one at `path`, as far back as it tells. */
  def log(io: FileIO, path: String): Vector[String]
}

/**
 * The commit of a catalog that keeps pointers: writes the new metadata file, then moves the pointer to it.
 *
 * However the catalog answers, or fails to, it ends in one of three ways. Either the commit happened; or it did not,
 * and its file is gone; or nobody knows, and everything is kept. After an answer that was lost the same move is made
 * again: the catalog takes it if it did not before, and says whose file it has if it did.
 *
 * @param name how messages call the table or view
 * @param warehouse where tables are made, for the message when files cannot be written
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
   * @param base where the pointer must be; `None` makes it
   * @throws CommitConflict the pointer was elsewhere, or the catalog was busy
   * @throws CommitStateUnknown nobody knows
   */
  def commit(base: Option[V], next: V): Unit = new Commit(base, next).run()

  final private class Commit(base: Option[V], next: V) {
    private val ours = pointed.location(next)
    private lazy val patience = Patience.statusChecks(pointed.properties(next), environment)

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

    /** From here on an earlier try may have been done, or may still be. */
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
     * A driver that tries again by itself hears that its own first try has come first; by now others may have gone on
     * from there, with our file in their log.
     */
    private def isDone: Boolean = orUnknown {
      val now = pointer.read()
      now.contains(ours) || now.exists(path => !isBase(path) && loggedAt(path).contains(ours))
    }

    /**
     * Whether an earlier try was done: the pointer is at our file, or somebody has gone on from there. Who went on from
     * our base proves that it was not, and cannot be any more.
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

    /** A file that is gone was not the newest any more, where others commit and delete: then the newest one tells. */
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
