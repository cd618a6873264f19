package iceberglite.tree

import java.util.concurrent.{CountDownLatch, TimeUnit}

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.FileIOWrapper
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.table.MemoryFileIO

/** Tests [[ParallelWriter]], which writes the new metadata files of a commit. */
class ParallelWriterSuite extends AnyFunSuite {
  private val contents = Array[Byte](1)

  /** A remote storage where no write completes before `writesToStart` writes have started. */
  private class RemoteStorage(files: MemoryFileIO, writesToStart: Int) extends FileIOWrapper(files) {
    private val started = new CountDownLatch(writesToStart)

    override def isRemote(path: String): Boolean = true
    override def write(path: String, contents: Array[Byte]): Unit = {
      started.countDown()
      if (!started.await(60, TimeUnit.SECONDS)) fail("The files are not written in parallel")
      if (path.contains("bad")) throw StorageFailed.at("write", path, "by the test")
      files.write(path, contents)
    }
  }

  test("files for a remote storage are written in parallel, and all exist after waiting") {
    val files = new MemoryFileIO
    val writer = new ParallelWriter(new RemoteStorage(files, writesToStart = 3), "mem:/t", MetadataPool)
    (1 to 3).foreach(i => writer.write(s"mem:/t/$i", contents))
    writer.await()
    assert(files.paths == Set("mem:/t/1", "mem:/t/2", "mem:/t/3"))
  }

  test("the first failure is thrown only when no write is running any more") {
    val files = new MemoryFileIO
    val writer = new ParallelWriter(new RemoteStorage(files, writesToStart = 3), "mem:/t", MetadataPool)
    Seq("1", "bad", "3").foreach(name => writer.write(s"mem:/t/$name", contents))
    assert(intercept[StorageFailed](writer.await()).getMessage.contains("bad"))
    assert(files.paths == Set("mem:/t/1", "mem:/t/3"))
  }

  test("local files are written by the calling thread, one by one") {
    val files = new MemoryFileIO
    val writer = new ParallelWriter(files, "mem:/t", MetadataPool)
    writer.write("mem:/t/1", contents)
    assert(files.paths == Set("mem:/t/1"))
    writer.await()
  }

  test("with a sequential pool, the calling thread writes files to a remote storage immediately") {
    val files = new MemoryFileIO
    val remoteFiles = new FileIOWrapper(files) {
      override def isRemote(path: String): Boolean = true
    }
    val writer = new ParallelWriter(remoteFiles, "mem:/t", SequentialPool)
    writer.write("mem:/t/1", contents)
    assert(files.paths == Set("mem:/t/1"))
    writer.await()
  }

  test("a task that no pool thread has started is executed by the thread that waits for it") {
    val testThread = Thread.currentThread
    val release = new CountDownLatch(1)
    val blockingTasks = Vector.fill(32)(MetadataPool.submit {
      if (Thread.currentThread ne testThread) release.await()
    })
    var executingThread = Option.empty[Thread]
    MetadataPool.submit { executingThread = Some(Thread.currentThread) }.await()
    assert(executingThread.contains(testThread))
    release.countDown()
    blockingTasks.foreach(_.await())
  }
}
