package iceberglite.tree

import java.util.concurrent.{CountDownLatch, TimeUnit}

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.FileIOWrapper
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.table.MemoryFileIO

class ParallelWriterSuite extends AnyFunSuite {
  private val contents = Array[Byte](1)

  /** A remote storage where no write completes before all have started. */
  private class RemoteStorage(files: MemoryFileIO, together: Int) extends FileIOWrapper(files) {
    private val started = new CountDownLatch(together)

    override def isRemote(path: String): Boolean = true
    override def write(path: String, contents: Array[Byte]): Unit = {
      started.countDown()
      if (!started.await(60, TimeUnit.SECONDS)) fail("The files are not written in parallel")
      if (path.contains("bad")) throw StorageFailed("write", path, "by the test")
      files.write(path, contents)
    }
  }

  test("files for a remote storage are written in parallel, and all exist after waiting") {
    val files = new MemoryFileIO
    val sink = new ParallelWriter(new RemoteStorage(files, together = 3), "mem:/t")
    (1 to 3).foreach(i => sink.write(s"mem:/t/$i", contents))
    sink.await()
    assert(files.paths == Set("mem:/t/1", "mem:/t/2", "mem:/t/3"))
  }

  test("the first failure is thrown only when no write is running any more") {
    val files = new MemoryFileIO
    val sink = new ParallelWriter(new RemoteStorage(files, together = 3), "mem:/t")
    Seq("1", "bad", "3").foreach(name => sink.write(s"mem:/t/$name", contents))
    assert(intercept[StorageFailed](sink.await()).getMessage.contains("bad"))
    assert(files.paths == Set("mem:/t/1", "mem:/t/3"))
  }

  test("local files are written by the calling thread, one by one") {
    val files = new MemoryFileIO
    val sink = new ParallelWriter(files, "mem:/t")
    sink.write("mem:/t/1", contents)
    assert(files.paths == Set("mem:/t/1"))
    sink.await()
  }

  test("with parallelism disabled a thread writes files in order") {
    val files = new MemoryFileIO
    val far = new FileIOWrapper(files) {
      override def isRemote(path: String): Boolean = true
    }
    MetadataPool.sequentially {
      val sink = new ParallelWriter(far, "mem:/t")
      sink.write("mem:/t/1", contents)
      assert(files.paths == Set("mem:/t/1"))
      sink.await()
    }
  }

  test("work that no other thread takes is done by the waiting thread") {
    val here = Thread.currentThread
    val block = new CountDownLatch(1)
    val busy = Vector.fill(32)(MetadataPool.submit {
      if (Thread.currentThread ne here) block.await()
    })
    var by = Option.empty[Thread]
    MetadataPool.submit { by = Some(Thread.currentThread) }.await()
    assert(by.contains(here))
    block.countDown()
    busy.foreach(_.await())
  }
}
