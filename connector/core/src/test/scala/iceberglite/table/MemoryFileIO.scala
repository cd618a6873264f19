package iceberglite.table

import java.io.{ByteArrayInputStream, InputStream}
import java.util.concurrent.ConcurrentHashMap

import scala.collection.JavaConverters._

import iceberglite.spec.IcebergError.{StorageFailed, UnreadableFile}
import iceberglite.storage.{FileIO, FileInfo}

/** Storage that can list the paths of all its files. */
trait ListableFiles extends FileIO {

  /** Returns the paths of all files. */
  def paths: Set[String]
}

/**
 * Storage that keeps files in memory. It is thread-safe: concurrent exclusive creations of a path succeed only once.
 *
 * @param nowMs the clock of the storage
 */
final class MemoryFileIO(nowMs: () => Long = () => 0L) extends ListableFiles {

  /** Name of the file that represents an empty directory. */
  private val Marker = ".directory"

  private val files = new ConcurrentHashMap[String, Array[Byte]]
  private val timesMs = new ConcurrentHashMap[String, Long]

  override def paths: Set[String] = files.keySet.asScala.toSet

  override def open(path: String): InputStream = new ByteArrayInputStream(read(path))

  override def read(path: String): Array[Byte] =
    Option(files.get(path)).getOrElse(throw UnreadableFile(path, "file", "It does not exist"))

  override def exists(path: String): Boolean = info(path).isDefined

  override def info(path: String): Option[FileInfo] =
    if (files.containsKey(path)) {
      Some(FileInfo(path, files.get(path).length.toLong, timesMs.getOrDefault(path, 0L), isDirectory = false))
    } else if (paths.exists(_.startsWith(path + "/"))) Some(FileInfo(path, 0L, 0L, isDirectory = true))
    else None

  override def write(path: String, contents: Array[Byte]): Unit =
    if (!createExclusively(path, contents)) throw StorageFailed.at("write", path, "It exists already")

  override def createExclusively(path: String, contents: Array[Byte]): Boolean = {
    val created = Option(files.putIfAbsent(path, contents)).isEmpty
    if (created) timesMs.put(path, nowMs())
    created
  }

  override def replace(path: String, contents: Array[Byte]): Unit = {
    files.put(path, contents)
    timesMs.put(path, nowMs())
    ()
  }

  override def delete(path: String): Unit = {
    files.remove(path)
    ()
  }

  override def list(directory: String): Vector[FileInfo] = {
    val prefix = directory.stripSuffix("/") + "/"
    paths.filter(_.startsWith(prefix)).map(p => prefix + p.substring(prefix.length).takeWhile(_ != '/')).toVector
      .filterNot(_ == prefix + Marker).flatMap(info(_))
  }

  override def makeDirectory(path: String): Unit = replace(s"$path/$Marker", Array.emptyByteArray)

  override def deleteDirectory(path: String): Unit = paths.filter(_.startsWith(path + "/")).foreach(delete)

  override def deleteEmptyDirectory(path: String): Unit = {
    require(list(path).isEmpty, s"$path is not empty")
    delete(s"$path/$Marker")
  }

  override def renameDirectory(from: String, to: String): Unit =
    paths.filter(_.startsWith(from + "/")).foreach { path =>
      replace(to + path.substring(from.length), read(path))
      delete(path)
    }
}
