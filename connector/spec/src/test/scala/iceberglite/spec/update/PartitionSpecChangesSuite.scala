package iceberglite.spec.update

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.PartitionRules
import iceberglite.spec.FormatVersion.{V1, V2}
import iceberglite.spec.IcebergError._
import iceberglite.spec.SampleTables._
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{
  Bucket,
  Day,
  Hour,
  Identity,
  PartitionField,
  PartitionSpec,
  Truncate,
  UnknownTransform,
  Year
}

class PartitionSpecChangesSuite extends AnyFunSuite {
  private val id = Vector("id")
  private val ts = Vector("ts")

  private def committed(base: TableMetadata, update: PartitionSpecChanges): TableMetadata =
    MetadataUpdate.applyAll(base, update.updates, CreatedMs)

  private def fields(m: TableMetadata): Vector[(Int, String, String)] =
    m.spec.fields.map(f => (f.fieldId, f.name, f.transform.name))

  test(
    "an added field gets the next id and a default name such as id_bucket_16",
    PartitionRules.specEvolution,
    PartitionRules.newIdsFromLast
  ) {
    val update = PartitionSpecChanges(empty(V2))
      .addField(id, Bucket(16))
      .addField(Vector("location", "lat"), Identity)
      .addField(ts, Day)
      .addField(Vector("amount"), Truncate(4))
    assert(update.result.fields.map(_.name) == Vector("id_bucket_16", "location.lat", "ts_day", "amount_trunc_4"))
    assert(update.result.fields.map(_.fieldId) == Vector(1000, 1001, 1002, 1003))
    assert(update.result.specId == 1)
  }

  test(
    "a field may have an explicit name, but not another field's; only an identity field may have its column's name",
    PartitionRules.fieldNames
  ) {
    val base = PartitionSpecChanges(empty(V2, byDay))
    assert(base.addField(id, Bucket(4), Some("shard")).result.fields.last.name == "shard")
    assert(intercept[AlreadyExists](base.addField(id, Bucket(4), Some("ts_day"))).name == "ts_day")
    val taken = intercept[InvalidArgument](base.addField(id, Bucket(4), Some("amount")))
    assert(taken.getMessage.contains("column amount"))
    intercept[InvalidArgument](base.addField(id, Bucket(4), Some("id")))
    intercept[InvalidArgument](base.addField(id, Identity, Some("amount")))
    assert(base.addField(id, Identity).result.fields.last.name == "id")
  }

  test("a partition field with the source and transform of another field is rejected") {
    val error = intercept[AlreadyExists](PartitionSpecChanges(empty(V2, byDay)).addField(ts, Day, Some("d")))
    assert(error.name.contains("ts_day"))
  }

  test("one change cannot add two time transforms of a column, but a later change can add another") {
    val error = intercept[ValidationFailed](PartitionSpecChanges(empty(V2)).addField(ts, Year).addField(ts, Day))
    assert(error.getMessage.contains("redundant partition field ts_day"))
    assert(PartitionSpecChanges(empty(V2, byDay)).addField(ts, Hour).result.fields.size == 2)
  }

  test(
    "a source column must be primitive, outside lists and maps, and of a type that the transform accepts",
    PartitionRules.primitiveSources
  ) {
    val base = PartitionSpecChanges(empty(V2))
    intercept[NotFound](base.addField(Vector("nowhere"), Identity))
    assert(intercept[InvalidArgument](base.addField(id, Day)).getMessage.contains("int"))
    intercept[InvalidArgument](base.addField(Vector("location"), Identity))
    val inList = intercept[InvalidArgument](base.addField(Vector("points", "element", "x"), Identity))
    assert(inList.getMessage.contains("inside a list"))
    intercept[Unsupported](base.addField(id, UnknownTransform("zorder[3]")))
  }

  test(
    "in version 2 and later, a removed partition field disappears, and its id is not reused for another field",
    PartitionRules.newIdsFromLast,
    PartitionRules.specEvolution
  ) {
    val base = empty(V2, byDay, byBucket)
    val removed = committed(base, PartitionSpecChanges(base).removeField("ts_day"))
    assert(fields(removed) == Vector((1001, "id_bucket", "bucket[16]")))
    val added = committed(removed, PartitionSpecChanges(removed).addField(ts, Hour))
    assert(fields(added).last == ((1002, "ts_hour", "hour")))
  }

  test("a field can be removed by source and transform") {
    val base = empty(V2, byDay, byBucket)
    assert(PartitionSpecChanges(base).removeField(id, Bucket(16)).result.fields.map(_.name) == Vector("ts_day"))
    val error = intercept[NotFound](PartitionSpecChanges(base).removeField(id, Bucket(8)))
    assert(error.getMessage.contains("ts_day (day of ts), id_bucket (bucket[16] of id)"))
    intercept[NotFound](PartitionSpecChanges(empty(V2)).removeField("x"))
  }

  test(
    "a field that is added again gets its old id and name",
    PartitionRules.fieldIdReused,
    PartitionRules.compatibleSpec
  ) {
    val base = empty(V2, byDay, byBucket)
    val removed = committed(base, PartitionSpecChanges(base).removeField("id_bucket"))
    val addedAgain = committed(removed, PartitionSpecChanges(removed).addField(id, Bucket(16)))
    assert(fields(addedAgain) == fields(base))
    assert(addedAgain.defaultSpecId == 0)
    assert(addedAgain.specs.size == 2)
    val renamed = committed(removed, PartitionSpecChanges(removed).addField(id, Bucket(16), Some("shard")))
    assert(fields(renamed).last == ((1002, "shard", "bucket[16]")))
  }

  test("removing and adding a field in one change keeps the field") {
    val base = empty(V2, byDay, byBucket)
    assert(fields(
      committed(base, PartitionSpecChanges(base).removeField("id_bucket").addField(id, Bucket(16)))
    ) == fields(base))
  }

  test("version 1 replaces a removed field with void in the same position", PartitionRules.voidInV1) {
    val base = empty(V1, byDay, byBucket)
    val removed = committed(base, PartitionSpecChanges(base).removeField("ts_day"))
    assert(fields(removed) == Vector((1000, "ts_day", "void"), (1001, "id_bucket", "bucket[16]")))
    val added = committed(removed, PartitionSpecChanges(removed).addField(ts, Day))
    assert(fields(added) == Vector(
      (1000, "ts_day_1000", "void"),
      (1001, "id_bucket", "bucket[16]"),
      (1002, "ts_day", "day")
    ))
    intercept[NotFound](PartitionSpecChanges(removed).removeField("ts_day"))
    assert(!committed(removed, PartitionSpecChanges(removed).removeField("id_bucket")).spec.isPartitioned)
  }

  test("a table upgraded from version 1 keeps its void fields, and drops other removed fields") {
    val base = empty(V1, byDay, byBucket)
    val removed = committed(base, PartitionSpecChanges(base).removeField("ts_day"))
    val upgraded = MetadataUpdate.applyAll(removed, Seq(MetadataUpdate.UpgradeFormatVersion(V2)), CreatedMs)
    val next = committed(upgraded, PartitionSpecChanges(upgraded).removeField("id_bucket"))
    assert(fields(next) == Vector((1000, "ts_day", "void")))
  }

  test("the field to replace is found by its name or by its source and transform") {
    val base = empty(V2, byDay)
    assert(fields(committed(base, PartitionSpecChanges(base).replaceField("ts_day", ts, Hour, None))) ==
      Vector((1001, "ts_hour", "hour")))
    assert(fields(committed(base, PartitionSpecChanges(base).replaceField(ts, Day, id, Bucket(8), Some("ts_day")))) ==
      Vector((1001, "ts_day", "bucket[8]")))
  }

  test("a field cannot be removed in the change that adds it") {
    val error = intercept[ValidationFailed](PartitionSpecChanges(empty(V2)).addField(ts, Day).removeField("ts_day"))
    assert(error.getMessage.contains("the same change adds it"))
  }

  test("a partition spec with an unknown transform cannot be changed") {
    val base = empty(V2)
    val later = PartitionSpec(0, Vector(PartitionField(1, 1000, "z", UnknownTransform("zorder"))))
    intercept[Unsupported](PartitionSpecChanges(base.copy(specs = Vector(later))))
  }

  test("column names are matched case-insensitively when the session is case-insensitive") {
    intercept[NotFound](PartitionSpecChanges(empty(V2)).addField(Vector("TS"), Day))
    val spec = PartitionSpecChanges(empty(V2), caseSensitive = false).addField(Vector("TS"), Day).result
    assert(spec.fields.head.name == "ts_day")
  }
}
