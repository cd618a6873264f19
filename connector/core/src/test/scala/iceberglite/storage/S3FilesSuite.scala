package iceberglite.storage

import java.util.concurrent.{Callable, Executors}

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.servers.Servers

/** Tests reading and writing files on the S3 server of the test environment. */
class S3FilesSuite extends AnyFunSuite {
  private lazy val bucket = Servers.s3.newBucket()
  private lazy val io = S3Storage.files(S3Storage.testServer)

  private def content(text: String): Array[Byte] = text.getBytes("UTF-8")
  private def text(path: String): String = new String(io.read(path), "UTF-8")

  test("a file can be written, read in full and in parts, listed, replaced and deleted on S3") {
    for (scheme <- Seq("s3a", "s3", "s3n")) {
      val directory = s"$scheme://$bucket/a b/c%20d/x=1+2#3?4/ü:ö/$scheme"
      val path = s"$directory/f.txt"
      assert(!io.exists(path) && io.info(path).isEmpty && io.list(directory).isEmpty)
      io.write(path, content("hello"))
      assert(text(path) == "hello" && new String(io.readRange(path, 1L, 3)) == "ell")
      assert(io.info(path).map(i => (i.length, i.isDirectory)).contains((5L, false)))
      assert(io.list(directory).map(_.path) == Vector(path))
      assert(io.info(directory).exists(_.isDirectory))
      io.replace(path, content("other"))
      assert(text(path) == "other")
      io.delete(path)
      assert(!io.exists(path))
    }
  }

  test("several files are deleted together on S3, and missing files are ignored") {
    val paths = (1 to 5).map(i => s"s3://$bucket/many/a b/c%20d/ü&<$i>.txt").toVector
    paths.init.foreach(io.write(_, content("x")))
    val kept = s"s3://$bucket/many/kept.txt"
    io.write(kept, content("x"))
    assert(io.deletionGroups(paths) == Vector(paths))
    assert(io.deleteAll(paths).isEmpty && paths.forall(!io.exists(_)) && io.exists(kept))
  }

  test("an exclusive create on S3 fails if the object exists, and leaves no other object") {
    val path = s"s3://$bucket/wh/t/metadata/v1.metadata.json"
    assert(io.createExclusively(path, content("first")))
    assert(!io.createExclusively(path, content("second")))
    assert(text(path) == "first")
    val directory = path.substring(0, path.lastIndexOf('/'))
    assert(io.list(directory).map(_.path) == Vector(path), "the object that probes for If-None-Match must be deleted")
  }

  test("if eight writers create the same object on S3, exactly one succeeds in each of 10 rounds") {
    val pool = Executors.newFixedThreadPool(8)
    try for (round <- 1 to 10) {
        val path = s"s3a://$bucket/race/v$round.metadata.json"
        def writer(i: Int): Callable[(Int, Boolean)] = () => (i, io.createExclusively(path, content(s"writer $i")))
        val winners = pool.invokeAll((1 to 8).map(writer).asJava).asScala.map(_.get).filter(_._2).map(_._1)
        assert(winners.size == 1 && text(path) == s"writer ${winners.head}")
      }
    finally pool.shutdown()
  }
}
