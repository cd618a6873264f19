package iceberglite.tree

import java.io.{ByteArrayInputStream, FilterInputStream, InputStream}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}

import iceberglite.catalog.FileIOWrapper
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.table.{ListableFiles, MemoryFileIO}

/** Storage that keeps files in memory, counts reads and open streams, and can fail writes. */
final class CountingMemoryIO(files: MemoryFileIO = new MemoryFileIO) extends FileIOWrapper(files) with ListableFiles {
  val reads = new AtomicInteger

  /** The number of the streams that are open. */
  val openStreams = new AtomicInteger

  /** If set, [[write]] fails for each path that contains this text. */
  @volatile var failingWrites: Option[String] = None

  override def paths: Set[String] = files.paths

  override def open(path: String): InputStream = new FilterInputStream(new ByteArrayInputStream(read(path))) {
    private val isOpen = new AtomicBoolean(true)
    openStreams.incrementAndGet()

    override def close(): Unit = if (isOpen.getAndSet(false)) {
      openStreams.decrementAndGet()
      ()
    }
  }

  override def read(path: String): Array[Byte] = {
    reads.incrementAndGet()
    super.read(path)
  }

  override def write(path: String, contents: Array[Byte]): Unit = {
    if (failingWrites.exists(path.contains)) throw StorageFailed.at("write", path, "The disk is full")
    super.write(path, contents)
  }
}
