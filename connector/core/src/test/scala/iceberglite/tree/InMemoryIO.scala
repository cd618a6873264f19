package iceberglite.tree

import java.io.{ByteArrayInputStream, InputStream}
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._

import iceberglite.spec.IcebergError.{StorageFailed, UnreadableFile}
import iceberglite.storage.{FileIO, FileInfo}

/** Storage that keeps files in memory, counts reads and can fail writes. */
final class InMemoryIO extends FileIO {
  private val files = new ConcurrentHashMap[String, Array[Byte]]
  val reads = new AtomicInteger

  /** If set, [[write]] fails for each path that contains this text. */
  @volatile var failingWrites: Option[String] = None

  def paths: Set[String] = files.keySet.asScala.toSet

  override def open(path: String): InputStream = new ByteArrayInputStream(read(path))

  override def read(path: String): Array[Byte] = {
    reads.incrementAndGet()
    Option(files.get(path)).getOrElse(throw UnreadableFile(path, "file", "It does not exist"))
  }

  override def exists(path: String): Boolean = files.containsKey(path)

  override def info(path: String): Option[FileInfo] =
    Option(files.get(path)).map(bytes => FileInfo(path, bytes.length.toLong, 0L, isDirectory = false))

  override def write(path: String, contents: Array[Byte]): Unit = {
    if (failingWrites.exists(path.contains)) throw StorageFailed.at("write", path, "The disk is full")
    if (Option(files.putIfAbsent(path, contents)).isDefined) throw StorageFailed.at("write", path, "It exists already")
  }

  override def createExclusively(path: String, contents: Array[Byte]): Boolean =
    Option(files.putIfAbsent(path, contents)).isEmpty

  override def replace(path: String, contents: Array[Byte]): Unit = {
    files.put(path, contents)
    ()
  }

  override def delete(path: String): Unit = {
    files.remove(path)
    ()
  }

  override def list(directory: String): Vector[FileInfo] = paths.toVector.filter(_.startsWith(directory)).flatMap(info)

  override def makeDirectory(path: String): Unit = ()

  override def deleteDirectory(path: String): Unit = paths.filter(_.startsWith(path)).foreach(delete)

  override def deleteEmptyDirectory(path: String): Unit = ()

  override def renameDirectory(from: String, to: String): Unit =
    throw StorageFailed.at("rename", from, s"It cannot be renamed to $to, because this storage has no directories")
}
