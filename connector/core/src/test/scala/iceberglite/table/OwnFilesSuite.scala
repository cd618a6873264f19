package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.{MetadataUpdate, TableMetadata}
import iceberglite.table.TestTables._

class OwnFilesSuite extends AnyFunSuite {

  private def own(location: String, properties: (String, String)*): OwnFiles = {
    val start = new TableStart.Creation(unpartitioned(properties: _*), StageMode.Create, "/any", uuid)
    OwnFiles.of(start.begin("t", None, 0L).metadata.copy(location = location))
  }
  private val uuid = new java.util.UUID(1L, 2L)

  test("a table's own files are below its location and the directories that its properties name") {
    val files = own("s3://b/wh/t", "write.data.path" -> "s3://data/x/", "write.metadata.path" -> "hdfs://nn/meta")
    Seq("s3://b/wh/t/data/f", "s3://data/x/f", "hdfs://nn/meta/v1.json").foreach(path => assert(files.has(path), path))
    Seq(
      "s3://b/wh/t2/f",
      "s3://b/wh/f",
      "s3://b/wh/t",
      "s3://data/y/f",
      "s3://c/wh/t/f",
      "hdfs://other/meta/f",
      "/wh/t/f"
    )
      .foreach(path => assert(!files.has(path), path))
  }

  test("schemes of the same store, doubled slashes and this machine's files without a scheme are told to be the same") {
    val onS3 = own("s3a://b//wh/t/")
    Seq("s3://b/wh/t/f", "s3n://b/wh//t/f", "S3A://b/wh/t/x/f").foreach(path => assert(onS3.has(path), path))
    val here = own("file:///wh/t")
    Seq("/wh/t/f", "file:/wh/t/f", "file:///wh/t//f").foreach(path => assert(here.has(path), path))
    assert(!here.has("s3a://wh/t/f") && !own("/wh/t").has("s3a://b/wh/t/f") && own("/wh/t").has("hdfs://nn/wh/t/f"))
  }

  test("a step upwards leads out of every directory") {
    val files = own("/wh/t")
    Seq("/wh/t/../u/f", "/wh/t/data/../../../etc/f", "/wh/t/./f", "file:/wh/t/..").foreach { path =>
      assert(!files.has(path), path)
    }
    assert(files.has("/wh/t/..f") && files.has("/wh/t/a..b/f"))
  }

  test("a table at the top of a bucket has data and metadata there, one at the top of a disk nothing") {
    val bucket = own("s3://b/")
    assert(bucket.has("s3://b/data/f") && bucket.has("s3://b/metadata/f") && !bucket.has("s3://b/other/f"))
    assert(!own("/").has("/etc/f") && !own("file:///").has("/data/f"))
  }

  test("metadata files that the log names outside of the table's directories are not cleaned up") {
    val properties = Seq(
      "write.metadata.previous-versions-max" -> "1",
      "write.metadata.delete-after-commit.enabled" -> "true"
    )
    val creation = unpartitioned(properties: _*).copy(location = Some("/wh/t"))
    val start = new TableStart.Creation(creation, StageMode.Create, "/wh/t", uuid)
    val first = start.begin("t", None, 0L).metadata
    def next(metadata: TableMetadata, at: String): NextVersion =
      NextVersion.of("t", Some(TableVersion(metadata, at)), change, 1L)
    def expired(logged: String): Vector[String] =
      next(next(first, logged).metadata, "/wh/t/metadata/v2.metadata.json").expired
    assert(expired("/wh/t/metadata/v1.metadata.json") == Vector("/wh/t/metadata/v1.metadata.json"))
    assert(expired("/wh/u/metadata/v1.metadata.json").isEmpty)
  }

  private val change = Change(Vector(MetadataUpdate.SetProperties(Map("a" -> "b"))), Vector.empty)
}
