package iceberglite.storage

import java.io.InputStream

/**
 * A storage that forwards the basic operations to another storage. Subclasses override the operations that differ.
 * Other operations, such as `readRange` and `deleteAll`, have the implementation of [[FileIO]], which calls the basic
 * operations, so that subclasses see all calls.
 *
 * @param inner the other storage
 */
abstract private[iceberglite] class ForwardingFileIO(inner: FileIO) extends FileIO {
  override def open(path: String): InputStream = inner.open(path)
  override def read(path: String): Array[Byte] = inner.read(path)
  override def exists(path: String): Boolean = inner.exists(path)
  override def isRemote(path: String): Boolean = inner.isRemote(path)
  override def info(path: String): Option[FileInfo] = inner.info(path)
  override def write(path: String, contents: Array[Byte]): Unit = inner.write(path, contents)
  override def createExclusively(path: String, contents: Array[Byte]): Boolean = inner.createExclusively(path, contents)
  override def replace(path: String, contents: Array[Byte]): Unit = inner.replace(path, contents)
  override def delete(path: String): Unit = inner.delete(path)
  override def list(directory: String): Vector[FileInfo] = inner.list(directory)
  override def makeDirectory(path: String): Unit = inner.makeDirectory(path)
  override def deleteDirectory(path: String): Unit = inner.deleteDirectory(path)
  override def deleteEmptyDirectory(path: String): Unit = inner.deleteEmptyDirectory(path)
  override def renameDirectory(from: String, to: String): Unit = inner.renameDirectory(from, to)
  override def defaultFileSystem: String = inner.defaultFileSystem
  override def realDirectory(directory: String): String = inner.realDirectory(directory)
}
