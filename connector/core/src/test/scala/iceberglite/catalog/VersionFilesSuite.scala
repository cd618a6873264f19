package iceberglite.catalog

import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.table.MemoryFileIO

class VersionFilesSuite extends AnyFunSuite {
  private val path = "mem:/t/metadata/v1.metadata.json"

  /** A storage with one file, whose first reads fail. */
  final private class Late(failures: Int) extends FileIOWrapper(new MemoryFileIO) {
    val reads = new AtomicInteger
    write(path, Array[Byte](1))
    override def read(path: String): Array[Byte] =
      if (reads.incrementAndGet() <= failures) throw UnreadableFile(path, "table metadata", "It does not exist")
      else super.read(path)
  }

  private def read(io: FileIOWrapper): Option[Int] =
    new VersionFiles(io, "mem:/t").ifExists(path)(io.read(path).length)

  test("a file that appears after an attempt to read it is read again") {
    val late = new Late(failures = 1)
    assert(read(late).contains(1) && late.reads.get == 2)
  }

  test("a file that exists and stays unreadable is an error, after a limited number of attempts") {
    val late = new Late(failures = 100)
    assert(intercept[UnreadableFile](read(late)).file == path && late.reads.get == 4)
  }

  test("a file that does not exist is absent, after one attempt") {
    val late = new Late(failures = 100)
    late.delete(path)
    assert(read(late).isEmpty && late.reads.get == 1)
  }
}
