package iceberglite.storage

import java.nio.file.{Files, Path}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, TimeUnit}

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

class WriteBehindSuite extends AnyFunSuite {

  /** A storage that waits for permission to write, and signals when it has started. */
  private class Slow {
    val begun, let = new CountDownLatch(1)
    val written = new ConcurrentLinkedQueue[(String, String)]
    val behind = new WriteBehind((path, contents) => {
      begun.countDown()
      assert(let.await(60, TimeUnit.SECONDS))
      if (path.startsWith("bad")) throw new IllegalStateException("by the test")
      written.add(path -> new String(contents, "UTF-8"))
      ()
    })

    def put(path: String, contents: String): Unit = behind.put(path, contents.getBytes("UTF-8"))
    def waiting(path: String): Option[String] = behind.contentsOf(path).map(new String(_, "UTF-8"))
    def began(): Unit = assert(begun.await(60, TimeUnit.SECONDS))

    /** Waits until everything queued before was written or dropped. */
    def end(): Seq[(String, String)] = {
      let.countDown()
      val last = new CountDownLatch(1)
      put("last", "")
      while (waiting("last").isDefined) last.await(1, TimeUnit.MILLISECONDS)
      written.asScala.toVector.filterNot(_._1 == "last")
    }
  }

  test("put does not wait, only the last of several contents is written, and a read returns it before it is written") {
    new Slow {
      put("hint", "1")
      began()
      (2 to 9).foreach(i => put("hint", i.toString))
      assert(waiting("hint").contains("9") && waiting("other").isEmpty && written.isEmpty)
      assert(end() == Seq("hint" -> "1", "hint" -> "9") && waiting("hint").isEmpty)
    }
  }

  test("a failed write does not prevent other writes") {
    new Slow {
      Seq("bad", "good", "bad2", "good2").foreach(put(_, "x"))
      assert(end().map(_._1) == Seq("good", "good2"))
    }
  }

  test("a forgotten file is not written later, and forget waits for a write in progress") {
    new Slow {
      put("t/metadata/hint", "1")
      began()
      put("t/metadata/hint", "2")
      put("t2/metadata/hint", "1")
      put("t", "1")
      val discarding = new Thread(() => behind.discard("t"))
      discarding.start()
      while (waiting("t").isDefined) Thread.sleep(1)
      assert(discarding.isAlive && waiting("t2/metadata/hint").isDefined)
      let.countDown()
      discarding.join(60000)
      assert(!discarding.isAlive)
      assert(end() == Seq("t/metadata/hint" -> "1", "t2/metadata/hint" -> "1"))
    }
  }

  private def withDirectory(body: (HadoopFileIO, Path) => Unit): Unit = {
    val directory = Files.createTempDirectory("behind")
    body(new HadoopFileIO(new Configuration(false)), directory)
  }

  test("a file whose replacement is pending can be read immediately, and exists in the end") {
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

  test("a deleted directory is not recreated by its hint") {
    withDirectory { (io, directory) =>
      (1 to 50).foreach { i =>
        val table = directory.resolve(s"t$i")
        Files.createDirectories(table)
        io.replaceAsync(s"$table/hint", Array[Byte](1))
        io.deleteDirectory(table.toString)
        assert(!Files.exists(table))
      }
      val gone = directory.resolve("gone")
      io.replaceAsync(s"$gone/hint", Array[Byte](1))
      io.delete(s"$gone/hint")
      assert(!Files.exists(gone))
    }
  }
}
