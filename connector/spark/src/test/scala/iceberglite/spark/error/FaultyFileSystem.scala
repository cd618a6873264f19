package iceberglite.spark.error

import java.io.IOException
import java.nio.file.Files

import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{FSDataInputStream, FSDataOutputStream, FileStatus, Path}
import org.apache.hadoop.util.Progressable

import iceberglite.storage.RenamingFileSystem

/**
 * What the test makes happen at a call. The connector converts failures of the storage to `UnreadableFile` or
 * `StorageFailed`.
 */
sealed private[error] trait Fault
private[error] object Fault {

  /** The call fails without effect. */
  case object Refused extends Fault

  /** The call takes effect and reports a failure. */
  case object AnswerLost extends Fault

  /** The call and all later calls fail without effect. */
  case object Outage extends Fault

  /** Another writer commits first; only commits are counted as calls. */
  case object Conflict extends Fault

  /** The test stops the statement, for example by cancelling its jobs, and then the call takes effect. */
  final case class Stopped(stop: () => Unit) extends Fault

  val ofAnyCall: Seq[Fault] = Seq(Refused, AnswerLost, Outage)
}

/**
 * A file system that counts calls after `arm` and applies the armed fault. Writes of version hints always fail, because
 * they run in the background, and a hint could be written during the next round of a test.
 */
class FaultyFileSystem extends RenamingFileSystem {
  import FaultyFileSystem.counted

  override def getScheme: String = getUri.getScheme

  override def open(path: Path, bufferSize: Int): FSDataInputStream = counted(path)(super.open(path, bufferSize))

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream =
    if (path.getName.contains("version-hint")) throw new IOException("by the test: version hints are not written")
    else counted(path)(super.create(path, permission, overwrite, bufferSize, replication, blockSize, progress))

  override def rename(from: Path, to: Path): Boolean =
    if (to.getName.endsWith(".metadata.json") && FaultyFileSystem.losesRace()) {
      // The commit of the simulated other writer is a copy of the newest metadata, which changes nothing.
      val number = to.getName.takeWhile(_ != '.').drop(1).toInt
      val newest = pathToFile(new Path(to.getParent, s"v${number - 1}.metadata.json"))
      Files.copy(if (newest.exists) newest.toPath else pathToFile(from).toPath, pathToFile(to).toPath)
      false
    } else counted(to)(super.rename(from, to))

  override def delete(path: Path, recursive: Boolean): Boolean =
    try counted(path)(super.delete(path, recursive))
    catch {
      case e: IOException =>
        FaultyFileSystem.addUndeleted(path.getName)
        throw e
    }

  override def getFileStatus(path: Path): FileStatus = counted(path)(super.getFileStatus(path))

  override def listStatus(path: Path): Array[FileStatus] = counted(path)(super.listStatus(path))

  override def mkdirs(path: Path): Boolean = counted(path)(super.mkdirs(path))
}

private[error] object FaultyFileSystem extends Faults {
  private case class Armed(fault: Fault, callNumber: Int)

  private var armed = Option.empty[Armed]
  private var calls = 0
  private var namesNotDeleted = Set.empty[String]

  /** Returns the names of the files whose deletion has failed since `arm`. */
  def undeleted: Set[String] = synchronized(namesNotDeleted)

  private def addUndeleted(name: String): Unit = synchronized(namesNotDeleted += name)

  /** Whether the current call is made by another call of this class, so that it is not counted. */
  private val isNested = ThreadLocal.withInitial[Boolean](() => false)

  override def arm(fault: Fault, callNumber: Int): Unit = synchronized {
    calls = 0
    namesNotDeleted = Set.empty
    armed = Some(Armed(fault, callNumber))
  }

  override def disarm(): Int = synchronized {
    armed = None
    calls
  }

  private def losesRace(): Boolean = synchronized {
    val counts = armed.exists(_.fault == Fault.Conflict)
    if (counts) calls += 1
    counts && armed.exists(_.callNumber == calls)
  }

  /** Counts a call, and returns its fault. */
  private def next(): Option[Fault] = synchronized {
    armed.filter(_.fault != Fault.Conflict).flatMap { a =>
      calls += 1
      if (a.callNumber == calls || a.fault == Fault.Outage && a.callNumber < calls) Some(a.fault) else None
    }
  }

  private def counted[A](path: Path)(call: => A): A =
    if (isNested.get) call
    else {
      isNested.set(true)
      try next() match {
          case None => call
          case Some(Fault.Stopped(stop)) =>
            stop()
            call
          case Some(fault) =>
            if (fault == Fault.AnswerLost) call
            throw new IOException(s"caused by the test, at $path")
        }
      finally isNested.set(false)
    }
}
