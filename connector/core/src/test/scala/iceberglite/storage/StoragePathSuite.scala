package iceberglite.storage

import org.scalatest.funsuite.AnyFunSuite

/** Tests [[StoragePath]], the location to which a path refers, whatever the spelling of the path. */
class StoragePathSuite extends AnyFunSuite {
  private val local = "file:///"
  private def pathOf(path: String, default: String = local) = StoragePath.of(path, default)

  test("paths with equivalent schemes, without a scheme, or with repeated slashes are the same location") {
    assert(Seq("s3://b/wh/t", "s3n://b/wh//t", "S3A://b/wh/t/").flatMap(pathOf(_)).distinct.size == 1)
    assert(Seq("/wh/t", "file:/wh/t", "file:///wh//t/").flatMap(pathOf(_)).distinct.size == 1)
    assert(pathOf("/wh/t", "hdfs://nn") == pathOf("hdfs://nn/wh/t") && pathOf("hdfs:/wh/t", "hdfs://nn") == pathOf(
      "hdfs://nn/wh/t"
    ))
  }

  test("paths on different file systems, or with only a common prefix, are different locations") {
    val distinctPaths =
      Seq("/wh/t", "hdfs://nn/wh/t", "hdfs://other/wh/t", "viewfs://nn/wh/t", "s3://wh/t", "/wh/t2", "/wh/T")
    assert(distinctPaths.flatMap(pathOf(_)).distinct.size == distinctPaths.size)
    assert(pathOf("/wh/t", "hdfs://nn") != pathOf("file:/wh/t", "hdfs://nn"))
    assert(!pathOf("/wh/t2/f").get.isBelow(pathOf("/wh/t").get) && !pathOf("/wh/t").get.isBelow(pathOf("/wh/t").get))
    assert(pathOf("/wh/t/f").get.isBelow(pathOf("/wh/t").get))
  }

  test("a relative path, or a path that storages may interpret differently, such as one with .., is not a location") {
    val ambiguous =
      Seq("/wh/../t", "/wh/./t", "/wh/%2e%2E/t", "s3://b/..", "wh/t", "file:wh/t", "//wh/t", "", "s3:", "a:b")
    ambiguous.foreach(path => assert(pathOf(path).isEmpty, path))
    assert(pathOf("/wh/..t/a..b/%2ef").isDefined)
  }
}
