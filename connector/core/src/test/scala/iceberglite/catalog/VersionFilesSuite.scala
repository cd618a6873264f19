package iceberglite.catalog

import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.table.MemoryFileIO

/** Tests reading a metadata file that may not exist, or that a storage may return only after some time. */
class VersionFilesSuite extends AnyFunSuite {
  private val path = "mem:/t/metadata/v1.metadata.json"

  /** A storage with one file. The first `failures` reads of the file fail. */
  final private class UnreadableAtFirst(failures: Int) extends FileIOWrapper(new MemoryFileIO) {
    val reads = new AtomicInteger
    write(path, Array[Byte](1))
    override def read(path: String): Array[Byte] =
      if (reads.incrementAndGet() <= failures) throw UnreadableFile(path, "table metadata", "It does not exist")
      else super.read(path)
  }

  private def read(io: FileIOWrapper): Option[Int] =
    VersionFiles.ifExists(io, path)(io.read(path).length)

  test("a file that cannot be read at first is read by the second attempt") {
    val delayed = new UnreadableAtFirst(failures = 1)
    assert(read(delayed).contains(1) && delayed.reads.get == 2)
  }

  test("a file that exists but cannot be read is an error after four attempts") {
    val delayed = new UnreadableAtFirst(failures = 100)
    assert(intercept[UnreadableFile](read(delayed)).file == path && delayed.reads.get == 4)
  }

  test("a file that does not exist is reported as absent after one attempt") {
    val delayed = new UnreadableAtFirst(failures = 100)
    delayed.delete(path)
    assert(read(delayed).isEmpty && delayed.reads.get == 1)
  }
}
