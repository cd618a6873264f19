package iceberglite.storage

import java.io.IOException
import java.net.URI
import java.util.concurrent.ConcurrentLinkedQueue

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FSDataOutputStream, LocalFileSystem, Path, RawLocalFileSystem}
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable

/** A local file system that records its calls, like a wrapper that a user configures. */
class CountingFileSystem extends LocalFileSystem {
  private def called(name: String): Unit = {
    CountingFileSystem.calls.add(name)
    ()
  }

  override def open(path: Path, bufferSize: Int): FSDataInputStream = {
    called("open")
    super.open(path, bufferSize)
  }

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = {
    called("create")
    super.create(path, permission, overwrite, bufferSize, replication, blockSize, progress)
  }

  override def delete(path: Path, recursive: Boolean): Boolean = {
    called("delete")
    super.delete(path, recursive)
  }
}

object CountingFileSystem {
  val calls: ConcurrentLinkedQueue[String] = new ConcurrentLinkedQueue[String]
}

/** The local disk under any scheme, with a rename that fails if the target exists, like HDFS. */
class RenamingFileSystem extends RawLocalFileSystem {
  import RenamingFileSystem._
  private var uri = Option.empty[URI]

  override def initialize(name: URI, conf: Configuration): Unit = {
    super.initialize(name, conf)
    uri = Some(URI.create(s"${name.getScheme}://${name.getAuthority}"))
  }

  /** The superclass calls this from its constructor, before the field is set. */
  override def getUri: URI = Option(uri).flatten.getOrElse(super.getUri)

  override def rename(from: Path, to: Path): Boolean = synchronized {
    if (failing.exists(_ != AfterRename)) throw new IOException("The connection was lost")
    val renamed = !exists(to) && super.rename(from, to)
    if (failing.nonEmpty) throw new IOException("The connection was lost")
    renamed
  }

  override def delete(path: Path, recursive: Boolean): Boolean = {
    if (failing.contains(Everything)) throw new IOException("The connection was lost")
    super.delete(path, recursive)
  }
}

object RenamingFileSystem {
  sealed trait Moment
  case object BeforeRename extends Moment
  case object AfterRename extends Moment
  case object Everything extends Moment

  @volatile var failing: Option[Moment] = None
}
