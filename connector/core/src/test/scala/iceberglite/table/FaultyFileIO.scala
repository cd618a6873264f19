package iceberglite.table

import java.io.InputStream
import java.util.concurrent.atomic.AtomicInteger

import iceberglite.spec.IcebergError.{StorageFailed, UnreadableFile}
import iceberglite.storage.{FileIO, FileInfo}

/** A fault that [[FaultyFileIO]] injects into a storage call. */
sealed trait Fault
object Fault {

  /** The call has no effect, and the caller gets an error. */
  case object Refused extends Fault

  /** The call takes effect, but the caller gets an error. */
  case object ResponseLost extends Fault

  /** The process dies before the call takes effect. */
  case object CrashBefore extends Fault

  /** The process dies after the call took effect. */
  case object CrashAfter extends Fault

  /** The process runs out of memory after the call took effect. */
  case object OutOfMemoryAfter extends Fault

  val all: Seq[Fault] = Seq(Refused, ResponseLost, CrashBefore, CrashAfter, OutOfMemoryAfter)
}

/** The error by which a simulated process dies. Each later call of the process throws it too, and has no effect. */
final class Crash extends Error("crashed")

/** Delegates to another `FileIO`, and injects the fault into call number `at`, counted from 1. */
final class FaultyFileIO(inner: FileIO, at: Int, fault: Fault) extends FileIO {
  private val count = new AtomicInteger
  @volatile private var dead = false

  def calls: Int = count.get

  /** @param error the error of a call that is refused or whose response is lost */
  private def call[A](error: => Throwable)(body: => A): A = {
    if (dead) throw new Crash
    if (count.incrementAndGet() != at) body
    else fault match {
      case Fault.Refused => throw error
      case Fault.ResponseLost =>
        body
        throw error
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
    call(StorageFailed.at("change", path, s"by the test, call ${count.get}"))(body)

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
