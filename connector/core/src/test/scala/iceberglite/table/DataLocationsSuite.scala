package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.partition.{Day, Identity, PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.types.Literal._

/** Tests [[DataLocations]], the paths of new data files. */
class DataLocationsSuite extends AnyFunSuite {
  private val spec = PartitionSpec(
    0,
    Vector(PartitionField(1, 1000, "ts_day", Day), PartitionField(2, 1001, "a b/ü", Identity))
  )
  private val tuple = PartitionTuple(Vector(Some(DateLiteral(0)), Some(StringLiteral("x/y=z ü%"))))
  private val encoded = "ts_day=1970-01-01/a+b%2F%C3%BC=x%2Fy%3Dz+%C3%BC%25"

  private def path(partition: PartitionTuple, properties: (String, String)*): String =
    DataLocations.of("/wh/db/t/", properties.toMap).path(spec, partition, "f.parquet")

  test("the path of a file has a directory for each partition field, with encoded names and values") {
    assert(path(tuple) == s"/wh/db/t/data/$encoded/f.parquet")
    val nulls = PartitionTuple(Vector(None, None))
    assert(path(nulls) == "/wh/db/t/data/ts_day=null/a+b%2F%C3%BC=null/f.parquet")
    val flat = DataLocations.of("s3://b/t", Map.empty).path(PartitionSpec.Unpartitioned, PartitionTuple.Empty, "f.orc")
    assert(flat == "s3://b/t/data/f.orc")
  }

  test("the data directory can be changed") {
    assert(path(tuple, "write.data.path" -> "s3://other/x/") == s"s3://other/x/$encoded/f.parquet")
  }

  test("object storage layout distributes files by the same hash as Apache Iceberg") {
    // The hash directories of the file name "a", 0101/0110/1001/10110010, are taken from Apache Iceberg's tests.
    val enabled = "write.object-storage.enabled" -> "true"
    def unpartitioned(properties: (String, String)*): String =
      DataLocations.of("s3://b/db/t", properties.toMap).path(PartitionSpec.Unpartitioned, PartitionTuple.Empty, "a")
    assert(unpartitioned(enabled) == "s3://b/db/t/data/0101/0110/1001/10110010/a")
    val withoutPartitions =
      DataLocations.of("s3://b/db/t", Map(enabled, "write.object-storage.partitioned-paths" -> "false"))
    assert(withoutPartitions.path(spec, tuple, "a") == "s3://b/db/t/data/0101/0110/1001/10110010-a")
    assert(unpartitioned(enabled, "write.data.path" -> "s3://c/d") == "s3://c/d/0101/0110/1001/10110010/db/t/a")
    assert(path(tuple, enabled).matches("/wh/db/t/data/[01]{4}/[01]{4}/[01]{4}/[01]{8}/ts_day=1970-01-01/.*/f.parquet"))
  }

  test("deprecated properties of the data directory are used if write.data.path is absent") {
    val folder = "write.folder-storage.path" -> "s3://b/folder/"
    val objects = "write.object-storage.path" -> "s3://b/objects"
    val enabled = "write.object-storage.enabled" -> "true"
    def directory(properties: (String, String)*): String = DataLocations.of("/wh/t", properties.toMap).directory
    assert(directory(folder, objects) == "s3://b/folder" && directory(objects) == "/wh/t/data")
    assert(directory(folder, objects, enabled) == "s3://b/objects" && directory(folder, enabled) == "s3://b/folder")
    assert(directory(folder, objects, enabled, "write.data.path" -> "/x") == "/x")
  }

  test("a location provider class is rejected, and the error names the alternative properties") {
    val message = intercept[Unsupported](path(tuple, "write.location-provider.impl" -> "com.example.Mine")).getMessage
    assert(message.contains("com.example.Mine") && message.contains("write.object-storage.enabled"))
  }

  test("the names of the files that a task writes end with consecutive numbers") {
    val names = new DataFileNames(3, 17L, "op", ".parquet")
    assert(names.next() == "00003-17-op-00001.parquet" && names.next() == "00003-17-op-00002.parquet")
  }
}
