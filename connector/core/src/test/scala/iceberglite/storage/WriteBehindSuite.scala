package iceberglite.storage

import java.nio.file.{Files, Path}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, TimeUnit}

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

/** Tests [[WriteBehind]], which writes small files such as version hints in the background. */
class WriteBehindSuite extends AnyFunSuite {

  /** A storage whose writes signal that they have started, and then wait until `mayWrite` is released. */
  private class SlowStorage {
    val begun, mayWrite = new CountDownLatch(1)
    val written = new ConcurrentLinkedQueue[(String, String)]
    val writeBehind = new WriteBehind((path, contents) => {
      begun.countDown()
      assert(mayWrite.await(60, TimeUnit.SECONDS))
      if (path.startsWith("bad")) throw new IllegalStateException("by the test")
      written.add(path -> new String(contents, "UTF-8"))
      ()
    })

    def put(path: String, contents: String): Unit = writeBehind.put(path, contents.getBytes("UTF-8"))
    def pendingContents(path: String): Option[String] = writeBehind.contentsOf(path).map(new String(_, "UTF-8"))
    def awaitStart(): Unit = assert(begun.await(60, TimeUnit.SECONDS))

    /** Lets writes continue, waits until all queued writes have ended, and returns the written files. */
    def finish(): Seq[(String, String)] = {
      mayWrite.countDown()
      val last = new CountDownLatch(1)
      put("last", "")
      while (pendingContents("last").isDefined) last.await(1, TimeUnit.MILLISECONDS)
      written.asScala.toVector.filterNot(_._1 == "last")
    }
  }

  test("put does not wait, a read returns pending contents, and only the last of several pending contents is written") {
    new SlowStorage {
      put("hint", "1")
      awaitStart()
      (2 to 9).foreach(i => put("hint", i.toString))
      assert(pendingContents("hint").contains("9") && pendingContents("other").isEmpty && written.isEmpty)
      assert(finish() == Seq("hint" -> "1", "hint" -> "9") && pendingContents("hint").isEmpty)
    }
  }

  test("a failed write does not prevent other writes") {
    new SlowStorage {
      Seq("bad", "good", "bad2", "good2").foreach(put(_, "x"))
      assert(finish().map(_._1) == Seq("good", "good2"))
    }
  }

  test("discard drops the pending writes below a directory, and waits for a write in progress") {
    new SlowStorage {
      put("t/metadata/hint", "1")
      awaitStart()
      put("t/metadata/hint", "2")
      put("t2/metadata/hint", "1")
      put("t", "1")
      val discarding = new Thread(() => writeBehind.discard("t"))
      discarding.start()
      while (pendingContents("t").isDefined) Thread.sleep(1)
      assert(discarding.isAlive && pendingContents("t2/metadata/hint").isDefined)
      mayWrite.countDown()
      discarding.join(60000)
      assert(!discarding.isAlive)
      assert(finish() == Seq("t/metadata/hint" -> "1", "t2/metadata/hint" -> "1"))
    }
  }

  private def withDirectory(body: (HadoopFileIO, Path) => Unit): Unit = {
    val directory = Files.createTempDirectory("behind")
    body(new HadoopFileIO(new Configuration(false)), directory)
  }

  test("the new contents of a file that is replaced asynchronously can be read immediately, and are written later") {
    withDirectory { (io, directory) =>
      val file = directory.resolve("hint")
      (1 to 20).foreach { i =>
        io.replaceAsync(file.toString, i.toString.getBytes("UTF-8"))
        assert(new String(io.read(file.toString), "UTF-8") == i.toString)
      }
      io.delete(s"$directory/other")
      while (!Files.exists(file) || new String(Files.readAllBytes(file), "UTF-8") != "20") Thread.sleep(1)
    }
  }

  test("a storage object reads and discards the pending writes of another one, by any form of the path") {
    withDirectory { (io, directory) =>
      val other = new HadoopFileIO(new Configuration(false))
      (1 to 50).foreach { i =>
        val table = directory.resolve(s"t$i")
        Files.createDirectories(table)
        io.replaceAsync(s"$table/hint", Array[Byte](1))
        assert(other.read(s"file:$table/hint").sameElements(Array[Byte](1)))
        other.delete(s"file://$table/hint")
        assert(!Files.exists(table.resolve("hint")))
        io.replaceAsync(s"file://$table/hint", Array[Byte](2))
        // A write to a deleted directory would fail, so that only the other directories show a write.
        if (i % 2 == 0) other.delete(s"$table/hint") else other.deleteDirectory(table.toString)
      }
      // Files are written in the order in which they were passed to the queue.
      val last = directory.resolve("last")
      io.replaceAsync(last.toString, Array[Byte](3))
      while (!Files.exists(last)) Thread.sleep(1)
      val remaining = Files.walk(directory)
      try assert(remaining.iterator.asScala.filter(Files.isRegularFile(_)).toVector == Vector(last))
      finally remaining.close()
    }
  }

  test("a pending write of a version hint does not recreate a deleted directory") {
    withDirectory { (io, directory) =>
      (1 to 50).foreach { i =>
        val table = directory.resolve(s"t$i")
        Files.createDirectories(table)
        io.replaceAsync(s"$table/hint", Array[Byte](1))
        io.deleteDirectory(table.toString)
        assert(!Files.exists(table))
      }
      val deletedTable = directory.resolve("gone")
      io.replaceAsync(s"$deletedTable/hint", Array[Byte](1))
      io.delete(s"$deletedTable/hint")
      assert(!Files.exists(deletedTable))
    }
  }
}
