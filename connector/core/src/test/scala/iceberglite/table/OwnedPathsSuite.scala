package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.update.MetadataUpdate
import iceberglite.table.TestTables._

/** Tests [[OwnedPaths]], which decides whether a file belongs to a table and may be deleted with it. */
class OwnedPathsSuite extends AnyFunSuite {
  private val uuid = new java.util.UUID(1L, 2L)

  private def version(location: String, properties: (String, String)*): TableVersion = {
    val start = new TableStart.Creation(unpartitioned(properties: _*), StageMode.Create, location, uuid)
    TableVersion(start.initialState("t", None, 0L).metadata, s"$location/metadata/v1.metadata.json")
  }

  private def owns(at: TableVersion, known: Option[String])(path: String): Boolean =
    OwnedPaths.of(new MemoryFileIO, at, TableOwnership(known, Vector("db", "t"))).reasonToKeep(path).isEmpty

  test("a table owns the directory that its catalog assigned, but no path that only its properties contain") {
    val at = version("s3://b/wh/t", "write.data.path" -> "s3://data/x/", "write.metadata.path" -> "hdfs://nn/meta")
    val own = owns(at, Some("s3a://b/wh/t/"))(_)
    assert(own("s3://b/wh/t/data/f") && own("s3n://b//wh/t/x/f"))
    Seq("s3://b/wh/t2/f", "s3://b/wh/f", "s3://b/wh/t", "s3://data/x/f", "s3://c/wh/t/f", "hdfs://nn/meta/f", "/wh/t/f")
      .foreach(path => assert(!own(path), path))
  }

  test("a location that only the metadata contains is owned if the metadata file is below it") {
    val at = version("mem://b/elsewhere/t")
    assert(owns(at, Some("mem://b/wh/t"))("mem://b/elsewhere/t/data/f"))
    val separate = at.copy(metadataLocation = "mem://b/other/metadata/v1.metadata.json")
    assert(!owns(separate, Some("mem://b/wh/t"))("mem://b/elsewhere/t/data/f"))
    assert(!owns(separate, None)("mem://b/other/data/f"))
  }

  test(
    "a table at the root of a bucket owns its data and metadata directories, a table at the root of a disk owns nothing"
  ) {
    val bucket = owns(version("s3://b/"), Some("s3://b/"))(_)
    assert(bucket("s3://b/data/f") && bucket("s3://b/metadata/f") && !bucket("s3://b/other/f"))
    Seq("/", "file:///").foreach(top => assert(!owns(version("mem://b/t"), Some(top))("/data/f")))
  }

  test("a metadata file expires when it is removed from the metadata log") {
    val properties = Seq(
      "write.metadata.previous-versions-max" -> "1",
      "write.metadata.delete-after-commit.enabled" -> "true"
    )
    val change = Change(Vector(MetadataUpdate.SetProperties(Map("a" -> "b"))), Vector.empty)
    val first = version("/wh/t", properties: _*)
    val second = NextVersion.of("t", Some(first), change, 1L)
    val third = NextVersion.of("t", Some(TableVersion(second.metadata, "/wh/t/metadata/v2.metadata.json")), change, 1L)
    assert(second.expired.isEmpty && third.expired == Vector("/wh/t/metadata/v1.metadata.json"))
  }
}
