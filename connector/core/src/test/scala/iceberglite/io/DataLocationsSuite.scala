package iceberglite.io

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.{PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.Literal._
import iceberglite.spec.transform.{Day, Identity}

class DataLocationsSuite extends AnyFunSuite {
  private val spec = PartitionSpec(
    0,
    Vector(PartitionField(1, 1000, "ts_day", Day), PartitionField(2, 1001, "a b/ü", Identity))
  )
  private val tuple = PartitionTuple(Vector(Some(DateLiteral(0)), Some(StringLiteral("x/y=z ü%"))))
  private val encoded = "ts_day=1970-01-01/a+b%2F%C3%BC=x%2Fy%3Dz+%C3%BC%25"

  private def path(partition: PartitionTuple, properties: (String, String)*): String =
    DataLocations.of("/wh/db/t/", properties.toMap).path(spec, partition, "f.parquet")

  test("files lie in a directory for each partition value, with names and values encoded") {
    assert(path(tuple) == s"/wh/db/t/data/$encoded/f.parquet")
    val nulls = PartitionTuple(Vector(None, None))
    assert(path(nulls) == "/wh/db/t/data/ts_day=null/a+b%2F%C3%BC=null/f.parquet")
    val flat = DataLocations.of("s3://b/t", Map.empty).path(PartitionSpec.Unpartitioned, PartitionTuple.Empty, "f.orc")
    assert(flat == "s3://b/t/data/f.orc")
  }

  test("the data directory may be elsewhere") {
    assert(path(tuple, "write.data.path" -> "s3://other/x/") == s"s3://other/x/$encoded/f.parquet")
  }

  test("on object storage the files spread over directories by a hash, as Apache Iceberg spreads them") {
    // The peer's example: its hash of "a" is 0101/0110/1001/10110010.
    val enabled = "write.object-storage.enabled" -> "true"
    def unpartitioned(properties: (String, String)*): String =
      DataLocations.of("s3://b/db/t", properties.toMap).path(PartitionSpec.Unpartitioned, PartitionTuple.Empty, "a")
    assert(unpartitioned(enabled) == "s3://b/db/t/data/0101/0110/1001/10110010/a")
    val without = DataLocations.of("s3://b/db/t", Map(enabled, "write.object-storage.partitioned-paths" -> "false"))
    assert(without.path(spec, tuple, "a") == "s3://b/db/t/data/0101/0110/1001/10110010-a")
    assert(unpartitioned(enabled, "write.data.path" -> "s3://c/d") == "s3://c/d/0101/0110/1001/10110010/db/t/a")
    assert(path(tuple, enabled).matches("/wh/db/t/data/[01]{4}/[01]{4}/[01]{4}/[01]{8}/ts_day=1970-01-01/.*/f.parquet"))
  }

  test("places that only another implementation knows are refused") {
    Seq("write.location-provider.impl", "write.folder-storage.path", "write.object-storage.path").foreach { key =>
      assert(intercept[Unsupported](path(tuple, key -> "x")).getMessage.contains(key))
    }
  }

  test("the names of a task's files count up") {
    val names = new DataFileNames(3, 17L, "op", ".parquet")
    assert(names.next() == "00003-17-op-00001.parquet" && names.next() == "00003-17-op-00002.parquet")
  }
}
