package iceberglite.tree

import java.io.{ByteArrayInputStream, InputStream}
import java.util.concurrent.atomic.AtomicInteger

import iceberglite.catalog.FileIOWrapper
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.table.{ListableFiles, MemoryFileIO}

/** Storage that keeps files in memory, counts reads and can fail writes. */
final class CountingMemoryIO(files: MemoryFileIO = new MemoryFileIO) extends FileIOWrapper(files) with ListableFiles {
  val reads = new AtomicInteger

  /** If set, [[write]] fails for each path that contains this text. */
  @volatile var failingWrites: Option[String] = None

  override def paths: Set[String] = files.paths

  override def open(path: String): InputStream = new ByteArrayInputStream(read(path))

  override def read(path: String): Array[Byte] = {
    reads.incrementAndGet()
    super.read(path)
  }

  override def write(path: String, contents: Array[Byte]): Unit = {
    if (failingWrites.exists(path.contains)) throw StorageFailed.at("write", path, "The disk is full")
    super.write(path, contents)
  }
}
