package iceberglite.storage

import java.nio.file.{Files, Path}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, TimeUnit}

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

class WriteBehindSuite extends AnyFunSuite {

  /** A storage that writes when it is let, and says when it has begun. */
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

    /** All that was put before is written, or will never be. */
    def end(): Seq[(String, String)] = {
      let.countDown()
      val last = new CountDownLatch(1)
      put("last", "")
      while (waiting("last").isDefined) last.await(1, TimeUnit.MILLISECONDS)
      written.asScala.toVector.filterNot(_._1 == "last")
    }
  }

  test("nobody waits, the last of several contents is written, and who asks sees it before") {
    new Slow {
      put("hint", "1")
      began()
      (2 to 9).foreach(i => put("hint", i.toString))
      assert(waiting("hint").contains("9") && waiting("other").isEmpty && written.isEmpty)
      assert(end() == Seq("hint" -> "1", "hint" -> "9") && waiting("hint").isEmpty)
    }
  }

  test("a write that fails keeps no other from being written") {
    new Slow {
      Seq("bad", "good", "bad2", "good2").foreach(put(_, "x"))
      assert(end().map(_._1) == Seq("good", "good2"))
    }
  }

  test("what is forgotten is not written any more, and what is being written is waited for") {
    new Slow {
      put("t/metadata/hint", "1")
      began()
      put("t/metadata/hint", "2")
      put("t2/metadata/hint", "1")
      put("t", "1")
      val forgetting = new Thread(() => behind.forget("t"))
      forgetting.start()
      while (waiting("t").isDefined) Thread.sleep(1)
      assert(forgetting.isAlive && waiting("t2/metadata/hint").isDefined)
      let.countDown()
      forgetting.join(60000)
      assert(!forgetting.isAlive)
      assert(end() == Seq("t/metadata/hint" -> "1", "t2/metadata/hint" -> "1"))
    }
  }

  private def withDirectory(body: (HadoopFileIO, Path) => Unit): Unit = {
    val directory = Files.createTempDirectory("behind")
    body(new HadoopFileIO(new Configuration(false)), directory)
  }

  test("a file that is replaced soon reads at once, and is there in the end") {
    withDirectory { (io, directory) =>
      val file = directory.resolve("hint")
      (1 to 20).foreach { i =>
        io.replaceSoon(file.toString, i.toString.getBytes("UTF-8"))
        assert(new String(io.read(file.toString), "UTF-8") == i.toString)
      }
      io.delete(s"$directory/other")
      while (!Files.exists(file) || new String(Files.readAllBytes(file), "UTF-8") != "20") Thread.sleep(1)
    }
  }

  test("a directory that was deleted does not come back with its hint") {
    withDirectory { (io, directory) =>
      (1 to 50).foreach { i =>
        val table = directory.resolve(s"t$i")
        Files.createDirectories(table)
        io.replaceSoon(s"$table/hint", Array[Byte](1))
        io.deleteDirectory(table.toString)
        assert(!Files.exists(table))
      }
      val gone = directory.resolve("gone")
      io.replaceSoon(s"$gone/hint", Array[Byte](1))
      io.delete(s"$gone/hint")
      assert(!Files.exists(gone))
    }
  }
}
