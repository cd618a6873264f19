package iceberglite.spec.json

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.{JsonRules, MetadataRules, PartitionRules}
import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.metadata.{BlobMetadata, Snapshot}
import iceberglite.spec.metadata.SnapshotRef.{Branch, Tag}
import iceberglite.spec.partition.{
  Bucket,
  Day,
  Identity,
  NullOrder,
  PartitionField,
  PartitionSpec,
  SortDirection,
  SortField,
  SortOrder,
  UnknownTransform
}
import iceberglite.spec.schema.MappedField

class PartsJsonSuite extends AnyFunSuite {

  private def invalid(read: => Any): InvalidMetadata = intercept[InvalidMetadata](read)

  private val specExample = """[{"source-id":4,"field-id":1000,"name":"ts_day","transform":"day"},""" +
    """{"source-id":1,"field-id":1001,"name":"id_bucket","transform":"bucket[16]"}]"""

  private val spec = PartitionSpec(
    0,
    Vector(PartitionField(4, 1000, "ts_day", Day), PartitionField(1, 1001, "id_bucket", Bucket(16)))
  )

  private def parseFields(json: String): PartitionSpec =
    PartitionSpec(0, PartitionSpecJson.readFields(JsonValue.parse("f", json)))

  test(
    "the specification's example of partition fields is read and written",
    JsonRules.partitionSpecs,
    PartitionRules.specFields
  ) {
    assert(parseFields(specExample) == spec)
    assert(PartitionSpecJson.fieldsToJson(spec) == specExample)
    val whole = s"""{"spec-id":0,"fields":$specExample}"""
    assert(PartitionSpecJson.parse("f", whole) == spec)
    assert(PartitionSpecJson.toJson(spec) == whole)
  }

  test(
    "partition fields without ids get ids from 1000",
    JsonRules.partitionSpecs,
    MetadataRules.version1Defaults,
    PartitionRules.idsOfV1
  ) {
    val json = specExample.replaceAll(""""field-id":\d+,""", "")
    assert(parseFields(json) == spec)
  }

  test(
    "several sources are written as source-ids, which takes precedence over source-id and cannot be empty",
    JsonRules.sourceIds,
    PartitionRules.multiArgument
  ) {
    val several = PartitionSpec(1, Vector(PartitionField(Vector(1, 2), 1000, "z", UnknownTransform("zorder"))))
    val json = PartitionSpecJson.toJson(several)
    assert(json.contains(""""source-ids":[1,2]""") && !json.contains("source-id\""))
    assert(PartitionSpecJson.parse("f", json) == several)
    val withSourceIds = """[{"source-ids":[4],"source-id":9,"field-id":1000,"name":"ts_day","transform":"day"}]"""
    assert(parseFields(withSourceIds).fields == Vector(spec.fields.head))
    assert(invalid(parseFields(withSourceIds.replace("[4]", "[]"))).path == "$[0].source-ids")
  }

  test(
    "an unknown transform is kept, and a known transform with an invalid parameter is rejected",
    JsonRules.unknownTransforms
  ) {
    val json = """[{"source-id":4,"field-id":1000,"name":"x","transform":"hilbert[4,5]"}]"""
    val read = parseFields(json)
    assert(read.hasUnknownTransform)
    assert(PartitionSpecJson.fieldsToJson(read) == json)
    val error = invalid(parseFields(json.replace("hilbert[4,5]", "bucket[0]")))
    assert(error.path == "$[0].transform")
  }

  test(
    "the specification's example of a sort order is read and written",
    JsonRules.sortOrders,
    PartitionRules.sortFields
  ) {
    val json = """{"order-id":1,"fields":[""" +
      """{"transform":"identity","source-id":2,"direction":"asc","null-order":"nulls-first"},""" +
      """{"transform":"bucket[4]","source-id":3,"direction":"desc","null-order":"nulls-last"}]}"""
    val order = SortOrder(
      1,
      Vector(
        SortField(Vector(2), Identity, SortDirection.Ascending, NullOrder.NullsFirst),
        SortField(Vector(3), Bucket(4), SortDirection.Descending, NullOrder.NullsLast)
      )
    )
    assert(SortOrderJson.parse("f", json) == order)
    assert(SortOrderJson.toJson(order) == json)
    val error = invalid(SortOrderJson.parse("f", json.replace("desc", "down")))
    assert(error.path == "$.fields[1].direction" && error.reason == "Must be one of asc, desc, found down")
  }

  test(
    "a version 1 snapshot may list its manifests and omit fields of later versions",
    JsonRules.snapshots,
    MetadataRules.upgrade
  ) {
    val read = SnapshotJson.parse("f", """{"snapshot-id":1,"timestamp-ms":5,"manifests":["a","b"]}""")
    assert(read == Snapshot(1, None, 0, 5, None, Vector("a", "b"), Map.empty, None))
    assert(read.operation.isEmpty)
    assert(SnapshotJson.toJson(read) == """{"snapshot-id":1,"timestamp-ms":5,"manifests":["a","b"]}""")
  }

  test(
    "a manifest list takes precedence over a list of manifests, and one of the two is required",
    JsonRules.snapshots
  ) {
    val json = """{"snapshot-id":1,"timestamp-ms":5,"manifest-list":"l","manifests":["a"]}"""
    assert(SnapshotJson.parse("f", json).manifests.isEmpty)
    assert(invalid(SnapshotJson.parse("f", """{"snapshot-id":1,"timestamp-ms":5}""")).reason.contains("neither"))
  }

  test("a version 3 snapshot has row ids, and large ids are exact", JsonRules.snapshots) {
    val json = """{"sequence-number":34,"snapshot-id":9223372036854775807,"parent-snapshot-id":9007199254740993,""" +
      """"timestamp-ms":1555100955770,"summary":{"a":"1","operation":"append"},"manifest-list":"s3://a/b.avro",""" +
      """"schema-id":1,"first-row-id":5,"added-rows":7,"key-id":"k"}"""
    val read = SnapshotJson.parse("f", json)
    assert(read.snapshotId == Long.MaxValue && read.parentSnapshotId.contains(9007199254740993L))
    assert(read.operation.contains("append") && read.addedRows.contains(7L))
    assert(SnapshotJson.toJson(read) == json)
  }

  test("a summary value that is not a string is rejected with its JSON path") {
    val json = """{"snapshot-id":1,"timestamp-ms":5,"manifest-list":"l","summary":{"added-records":1}}"""
    assert(invalid(SnapshotJson.parse("f", json)).path == "$.summary.added-records")
  }

  test(
    "the specification's example of a reference and a branch with retention settings are read and written",
    JsonRules.references
  ) {
    val tag = """{"snapshot-id":123456789000,"type":"tag","max-ref-age-ms":10000000}"""
    assert(SnapshotRefJson.parse("f", tag) == Tag(123456789000L, Some(10000000L)))
    assert(SnapshotRefJson.toJson(Tag(123456789000L, Some(10000000L))) == tag)
    val branch = Branch(1, Some(2), Some(3), Some(4))
    assert(SnapshotRefJson.parse("f", SnapshotRefJson.toJson(branch)) == branch)
    assert(SnapshotRefJson.parse("f", """{"snapshot-id":1,"type":"BRANCH"}""") == Branch(1))
    assert(invalid(SnapshotRefJson.parse("f", """{"snapshot-id":1,"type":"x"}""")).path == "$.type")
  }

  test("the snapshot id of statistics is written as a number, and a string is also read", MetadataRules.statistics) {
    val json = """{"snapshot-id":5,"statistics-path":"p","file-size-in-bytes":1,"file-footer-size-in-bytes":2,""" +
      """"blob-metadata":[{"type":"t","snapshot-id":5,"sequence-number":6,"fields":[1]}]}"""
    val read = StatisticsJson.parse("f", json)
    assert(read.blobMetadata == Vector(BlobMetadata("t", 5, 6, Vector(1), Map.empty)))
    assert(StatisticsJson.toJson(read) == json)
    assert(StatisticsJson.parse("f", json.replaceFirst("5", "\"5\"")) == read)
    assert(invalid(StatisticsJson.parse("f", json.replaceFirst("5", "\"x\""))).path == "$.snapshot-id")
  }

  test("the specification's example of a name mapping is read and written", JsonRules.nameMapping) {
    val json = """[{"field-id":1,"names":["id","record_id"]},{"field-id":2,"names":["data"]},""" +
      """{"field-id":3,"names":["location"],"fields":[{"field-id":4,"names":["latitude","lat"]},""" +
      """{"field-id":5,"names":["longitude","long"]}]}]"""
    val read = NameMappingJson.parse("f", json)
    assert(read.fields(2).fields.map(_.id) == Vector(Some(4), Some(5)))
    assert(read.fields.head.names == Vector("id", "record_id"))
    assert(NameMappingJson.toJson(read) == json)
    val nameless = NameMappingJson.parse("f", """[{"names":[]}]""")
    assert(nameless.fields == Vector(MappedField(Vector.empty, None, Vector.empty)))
  }

  test("keys with dots are shown in brackets in a JSON path") {
    val json = """{"snapshot-id":1,"timestamp-ms":5,"manifest-list":"l","summary":{"spark.app.id":null,"a.b":[]}}"""
    assert(invalid(SnapshotJson.parse("f", json)).path == "$.summary['spark.app.id']")
  }
}
