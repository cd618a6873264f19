package iceberglite.table

import java.io.InputStream
import java.util.concurrent.atomic.AtomicInteger

import iceberglite.spec.IcebergError.{StorageFailed, UnreadableFile}
import iceberglite.storage.{FileIO, FileInfo}

/** How a call fails. */
sealed trait Fault
object Fault {

  /** It says that it failed, and did nothing. */
  case object Refused extends Fault

  /** It did what it was to do, and says that it failed. */
  case object AnswerLost extends Fault

  /** The process dies before the call. */
  case object CrashBefore extends Fault

  /** The process dies after the call. */
  case object CrashAfter extends Fault

  /** The call runs out of memory after it did what it was to do. */
  case object OutOfMemoryAfter extends Fault

  val all: Seq[Fault] = Seq(Refused, AnswerLost, CrashBefore, CrashAfter, OutOfMemoryAfter)
}

/** The process is dead: whatever it does next does not happen. */
final class Crash extends Error("crashed")

/** Another storage whose `at`-th call fails, counted from 1. */
final class FaultyFileIO(inner: FileIO, at: Int, fault: Fault) extends FileIO {
  private val count = new AtomicInteger
  @volatile private var dead = false

  def calls: Int = count.get

  /** @param lost what the call throws when its answer gets lost */
  private def call[A](lost: => Throwable)(body: => A): A = {
    if (dead) throw new Crash
    if (count.incrementAndGet() != at) body
    else fault match {
      case Fault.Refused => throw lost
      case Fault.AnswerLost =>
        body
        throw lost
      case Fault.CrashBefore => crash()
      case Fault.CrashAfter =>
        body
        crash()
      case Fault.OutOfMemoryAfter =>
        body
        throw new OutOfMemoryError("by the test")
    }
  }

  private def crash(): Nothing = {
    dead = true
    throw new Crash
  }

  private def reading[A](path: String)(body: => A): A =
    call(UnreadableFile(path, "file", s"by the test, call ${count.get}"))(body)

  private def changing[A](path: String)(body: => A): A =
    call(StorageFailed("change", path, s"by the test, call ${count.get}"))(body)

  override def open(path: String): InputStream = reading(path)(inner.open(path))
  override def read(path: String): Array[Byte] = reading(path)(inner.read(path))
  override def exists(path: String): Boolean = changing(path)(inner.exists(path))
  override def info(path: String): Option[FileInfo] = changing(path)(inner.info(path))
  override def write(path: String, contents: Array[Byte]): Unit = changing(path)(inner.write(path, contents))
  override def createExclusively(path: String, contents: Array[Byte]): Boolean =
    changing(path)(inner.createExclusively(path, contents))
  override def replace(path: String, contents: Array[Byte]): Unit = changing(path)(inner.replace(path, contents))
  override def delete(path: String): Unit = changing(path)(inner.delete(path))
  override def list(directory: String): Vector[FileInfo] = changing(directory)(inner.list(directory))
  override def makeDirectory(path: String): Unit = changing(path)(inner.makeDirectory(path))
  override def deleteDirectory(path: String): Unit = changing(path)(inner.deleteDirectory(path))
  override def deleteEmptyDirectory(path: String): Unit = changing(path)(inner.deleteEmptyDirectory(path))
  override def renameDirectory(from: String, to: String): Unit = changing(from)(inner.renameDirectory(from, to))
}
