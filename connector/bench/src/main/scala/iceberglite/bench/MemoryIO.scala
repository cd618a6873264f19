package iceberglite.bench

import java.io.{ByteArrayInputStream, InputStream}
import java.util.concurrent.ConcurrentHashMap

import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.storage.{FileIO, FileInfo}

/** Storage that keeps files in memory, so that a benchmark does not measure the time of storage calls. */
final class MemoryIO extends FileIO {
  private val files = new ConcurrentHashMap[String, Array[Byte]]

  override def read(path: String): Array[Byte] =
    Option(files.get(path)).getOrElse(throw UnreadableFile(path, "file", "It does not exist"))
  override def open(path: String): InputStream = new ByteArrayInputStream(read(path))
  override def exists(path: String): Boolean = files.containsKey(path)
  override def info(path: String): Option[FileInfo] =
    Option(files.get(path)).map(b => FileInfo(path, b.length.toLong, 0L, isDirectory = false))
  override def write(path: String, contents: Array[Byte]): Unit = files.put(path, contents)
  override def createExclusively(path: String, contents: Array[Byte]): Boolean =
    files.putIfAbsent(path, contents) == null
  override def replace(path: String, contents: Array[Byte]): Unit = files.put(path, contents)
  override def delete(path: String): Unit = files.remove(path)
  override def list(directory: String): Vector[FileInfo] = Vector.empty
  override def makeDirectory(path: String): Unit = ()
  override def deleteDirectory(path: String): Unit = ()
  override def deleteEmptyDirectory(path: String): Unit = ()
  override def renameDirectory(from: String, to: String): Unit = ()
}
