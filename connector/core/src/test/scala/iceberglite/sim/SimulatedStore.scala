package iceberglite.sim

import java.io.{ByteArrayInputStream, InputStream}
import java.util.TreeMap

import scala.collection.JavaConverters._
import scala.collection.mutable

import iceberglite.spec.IcebergError.{StorageFailed, UnreadableFile}
import iceberglite.storage.{FileIO, FileInfo}

/** A file and the number of the operation that wrote it. */
final case class StoredFile(path: String, contents: Array[Byte], operation: Int)

/**
 * Storage that keeps files in memory. It also keeps deleted and replaced metadata files, which the checks of a history
 * need. Not thread-safe.
 */
final class SimulatedStore {
  private val files = new TreeMap[String, StoredFile]
  private val excused = mutable.Map.empty[String, String]
  private var created = Vector.empty[StoredFile]

  /** Whether an exclusive create fails if the path exists. The value false simulates a faulty storage. */
  var exclusive = true

  /** Whether deletes have an effect. The value false simulates a faulty storage. */
  var deletes = true

  /** Returns whether the file with the given path is lost after its write was acknowledged. */
  var loses: String => Boolean = (_: String) => false

  def paths: Set[String] = files.keySet.asScala.toSet

  def find(path: String): Option[StoredFile] = Option(files.get(path))

  def exists(path: String): Boolean = files.containsKey(path)

  def put(file: StoredFile): Unit = {
    if (SimulatedStore.isMetadata(file.path)) created :+= file
    if (!loses(file.path)) files.put(file.path, file)
    ()
  }

  /** @return whether the file was stored; false if the path exists and [[exclusive]] is true */
  def putIfAbsent(file: StoredFile): Boolean = {
    val free = !exists(file.path) || !exclusive
    if (free) put(file)
    free
  }

  def remove(path: String): Unit = if (deletes) {
    files.remove(path)
    ()
  }

  /** Returns the files below a directory. */
  def below(directory: String): Vector[StoredFile] = {
    val prefix = directory.stripSuffix("/") + "/"
    files.subMap(prefix, prefix + Char.MaxValue).values.asScala.toVector
  }

  /** All metadata files that were ever created, in order of creation. A path can occur several times. */
  def metadataFiles: Vector[StoredFile] = created

  /** Records why the file may exist although the table does not reference it. */
  def excuse(path: String, why: String): Unit = excused.update(path, why)

  def excuseOf(path: String): Option[String] = excused.get(path)
}

object SimulatedStore {
  def isMetadata(path: String): Boolean = path.endsWith(".metadata.json")
}

/**
 * Accesses the files of a [[SimulatedStore]] without faults.
 *
 * @param operation returns the operation number to record for each written file
 */
final class StoreIO(store: SimulatedStore, operation: () => Int) extends FileIO {
  override def mayCache: Boolean = false

  override def open(path: String): InputStream = new ByteArrayInputStream(read(path))

  override def read(path: String): Array[Byte] =
    store.find(path).getOrElse(throw UnreadableFile(path, "file", "It does not exist")).contents

  override def exists(path: String): Boolean = info(path).isDefined

  override def info(path: String): Option[FileInfo] =
    store.find(path).map(fileInfo).orElse {
      if (store.below(path).nonEmpty) Some(FileInfo(path, 0L, 0L, isDirectory = true)) else None
    }

  private def fileInfo(file: StoredFile): FileInfo =
    FileInfo(file.path, file.contents.length.toLong, 0L, isDirectory = false)

  override def write(path: String, contents: Array[Byte]): Unit =
    if (!createExclusively(path, contents)) throw StorageFailed.at("write", path, "It exists already")

  override def createExclusively(path: String, contents: Array[Byte]): Boolean =
    store.putIfAbsent(StoredFile(path, contents, operation()))

  override def replace(path: String, contents: Array[Byte]): Unit = store.put(StoredFile(path, contents, operation()))

  override def delete(path: String): Unit = store.remove(path)

  override def list(directory: String): Vector[FileInfo] = {
    val prefix = directory.stripSuffix("/") + "/"
    val names = store.below(directory).map(_.path.substring(prefix.length).takeWhile(_ != '/')).distinct
    names.flatMap(name => info(prefix + name))
  }

  override def makeDirectory(path: String): Unit = ()

  override def deleteDirectory(path: String): Unit = store.below(path).foreach(f => store.remove(f.path))

  override def deleteEmptyDirectory(path: String): Unit = require(store.below(path).isEmpty, s"$path is not empty")

  override def renameDirectory(from: String, to: String): Unit =
    throw StorageFailed.at("rename", from, s"It cannot be renamed to $to, because the simulation does not support it")
}
