package iceberglite.storage

import java.io.IOException
import java.net.URI
import java.util.concurrent.ConcurrentLinkedQueue

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FSDataOutputStream, LocalFileSystem, Path}
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable

/** A local file system that records its calls. It represents a custom file system class that a user configures. */
class CountingFileSystem extends LocalFileSystem(new RawLocalDisk) {
  private def record(name: String): Unit = {
    CountingFileSystem.calls.add(name)
    ()
  }

  override def open(path: Path, bufferSize: Int): FSDataInputStream = {
    record("open")
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
    record("create")
    super.create(path, permission, overwrite, bufferSize, replication, blockSize, progress)
  }

  override def delete(path: Path, recursive: Boolean): Boolean = {
    record("delete")
    super.delete(path, recursive)
  }
}

object CountingFileSystem {
  val calls: ConcurrentLinkedQueue[String] = new ConcurrentLinkedQueue[String]
}

/** A file system on the local disk for any scheme. As on HDFS, a rename fails if the target exists. */
class RenamingFileSystem extends RawLocalDisk {
  import RenamingFileSystem._
  private var uri = Option.empty[URI]

  override def initialize(name: URI, conf: Configuration): Unit = {
    super.initialize(name, conf)
    uri = Some(URI.create(s"${name.getScheme}://${name.getAuthority}"))
  }

  /** The constructor of the superclass calls this method before the field `uri` is initialized. */
  override def getUri: URI = Option(uri).flatten.getOrElse(super.getUri)

  override def rename(from: Path, to: Path): Boolean = synchronized {
    if (failing.exists(_ != AfterRename)) throw new IOException("The connection was lost")
    val renamed = !exists(to) && super.rename(from, to)
    if (failing.nonEmpty) throw new IOException("The connection was lost")
    renamed
  }

  override def delete(path: Path, recursive: Boolean): Boolean = {
    if (failing.contains(BeforeRenameOrDelete)) throw new IOException("The connection was lost")
    super.delete(path, recursive)
  }
}

object RenamingFileSystem {

  /** The calls in which the connection is lost, and whether the call takes effect before that. */
  sealed trait Moment

  /** The connection is lost before a rename takes effect. */
  case object BeforeRename extends Moment

  /** The connection is lost after a rename took effect. */
  case object AfterRename extends Moment

  /** The connection is lost before a rename or a delete takes effect. */
  case object BeforeRenameOrDelete extends Moment

  /** The calls that fail; `None` if all renames and deletes succeed. */
  @volatile var failing: Option[Moment] = None
}
