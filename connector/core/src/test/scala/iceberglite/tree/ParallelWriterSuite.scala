package iceberglite.tree

import java.util.concurrent.{CountDownLatch, TimeUnit}

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.FileIOWrapper
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.table.MemoryFileIO

class ParallelWriterSuite extends AnyFunSuite {
  private val contents = Array[Byte](1)

  /** A storage far away where no file is there before all are on their way. */
  private class Far(files: MemoryFileIO, together: Int) extends FileIOWrapper(files) {
    private val onTheirWay = new CountDownLatch(together)

    override def isRemote(path: String): Boolean = true
    override def write(path: String, contents: Array[Byte]): Unit = {
      onTheirWay.countDown()
      if (!onTheirWay.await(60, TimeUnit.SECONDS)) fail("The files do not go out together")
      if (path.contains("bad")) throw StorageFailed("write", path, "by the test")
      files.write(path, contents)
    }
  }

  test("files for a storage that is far away go out together, and all are there when they were waited for") {
    val files = new MemoryFileIO
    val sink = new ParallelWriter(new Far(files, together = 3), "mem:/t")
    (1 to 3).foreach(i => sink.write(s"mem:/t/$i", contents))
    sink.await()
    assert(files.paths == Set("mem:/t/1", "mem:/t/2", "mem:/t/3"))
  }

  test("the first failure is thrown when nothing is being written any more") {
    val files = new MemoryFileIO
    val sink = new ParallelWriter(new Far(files, together = 3), "mem:/t")
    Seq("1", "bad", "3").foreach(name => sink.write(s"mem:/t/$name", contents))
    assert(intercept[StorageFailed](sink.await()).getMessage.contains("bad"))
    assert(files.paths == Set("mem:/t/1", "mem:/t/3"))
  }

  test("files of this machine are written by the thread that has them, each when it comes") {
    val files = new MemoryFileIO
    val sink = new ParallelWriter(files, "mem:/t")
    sink.write("mem:/t/1", contents)
    assert(files.paths == Set("mem:/t/1"))
    sink.await()
  }

  test("a thread that does all in order writes in order") {
    val files = new MemoryFileIO
    val far = new FileIOWrapper(files) {
      override def isRemote(path: String): Boolean = true
    }
    MetadataPool.alone {
      val sink = new ParallelWriter(far, "mem:/t")
      sink.write("mem:/t/1", contents)
      assert(files.paths == Set("mem:/t/1"))
      sink.await()
    }
  }

  test("work that no other thread comes to is done by the one that waits") {
    val here = Thread.currentThread
    val block = new CountDownLatch(1)
    val busy = Vector.fill(32)(MetadataPool.begin {
      if (Thread.currentThread ne here) block.await()
    })
    var by = Option.empty[Thread]
    MetadataPool.begin { by = Some(Thread.currentThread) }.await()
    assert(by.contains(here))
    block.countDown()
    busy.foreach(_.await())
  }
}
