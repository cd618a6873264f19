package iceberglite.spec.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.{PartitionRules, TypeRules}
import iceberglite.spec.IcebergError
import iceberglite.spec.FormatVersion.{V1, V2, V3}
import iceberglite.spec.IcebergError._
import iceberglite.spec.SampleTables._
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{
  Bucket,
  Day,
  Hour,
  Identity,
  NullOrder,
  SortDirection,
  SortField,
  SortOrder,
  Truncate,
  UnboundPartitionField,
  UnboundSortField
}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.DefaultValue.OfPrimitive
import iceberglite.spec.types.Literal.IntLiteral
import iceberglite.spec.types.Type._
import iceberglite.spec.update.MetadataUpdate

class NewTableSuite extends AnyFunSuite {

  private def replaced(base: TableMetadata, table: NewTable): TableMetadata =
    MetadataUpdate.applyAll(base, table.replacement(base), base.lastUpdatedMs + 1000)

  private def table(fields: NestedField*): NewTable =
    NewTable(Schema(0, fields.toVector), Vector.empty, Vector.empty, Location, Map.empty)

  test("columns are numbered from 1, breadth-first within each struct") {
    val schema = empty(V2).schema
    assert(schema.fields.map(_.id) == (1 to 7).toVector)
    assert(Seq("location.lat", "location.lon", "points.element", "points.element.x", "tags.key", "tags.value")
      .map(schema.require(_).id) == Seq(8, 9, 10, 11, 13, 14))
    assert(empty(V2).lastColumnId == 14)
  }

  test("a new table has schema 0, partition spec 0, sort order 0, no snapshot, and the given UUID and time") {
    val m = empty(V2, byDay, byBucket)
    assert(m.formatVersion == V2 && m.uuid.contains(Uuid) && m.lastUpdatedMs == CreatedMs)
    assert(m.currentSchemaId == 0 && m.defaultSpecId == 0 && m.sortOrder == SortOrder.Unsorted)
    assert(m.spec.fields.map(f => (f.fieldId, f.name)) == Vector((1000, "ts_day"), (1001, "id_bucket")))
    assert(m.lastPartitionId == 1001 && empty(V2).lastPartitionId == 999)
    assert(m.currentSnapshotId.isEmpty && m.refs.isEmpty && m.snapshotLog.isEmpty && m.metadataLog.isEmpty)
  }

  test("format-version sets the version, reserved properties are not stored, and the default Parquet codec is zstd") {
    val properties = Map("format-version" -> "3", "current-schema" -> "x", "owner" -> "me")
    val m = description(V2).copy(properties = properties).metadata(Uuid, CreatedMs)
    assert(m.formatVersion == V3)
    assert(m.properties == Map("owner" -> "me", "write.parquet.compression-codec" -> "zstd"))
    val gzip = description(V2).copy(properties = Map("write.parquet.compression-codec" -> "gzip"))
    assert(gzip.metadata(Uuid, CreatedMs).properties("write.parquet.compression-codec") == "gzip")
  }

  test("an invalid property, type, name, location or partitioning is rejected", PartitionRules.fieldNames) {
    def rejection(t: NewTable): IcebergError = intercept[IcebergError](t.creation(Uuid))
    val version7 = description(V2).copy(properties = Map("format-version" -> "7"))
    assert(rejection(version7).getMessage.contains("format-version"))
    assert(rejection(table(NestedField.optional(0, "v", VariantType))).getMessage.contains("variant"))
    assert(rejection(table(NestedField.optional(0, "a", IntType), NestedField.optional(0, "a", IntType)))
      .getMessage.contains("column name: a"))
    assert(
      rejection(description(V2, byDay, UnboundPartitionField(Vector("ts"), Hour))).getMessage.contains("redundant")
    )
    assert(rejection(description(V2, byBucket, UnboundPartitionField(Vector("id"), Bucket(4))))
      .getMessage.contains("Two fields have this name"))
    assert(rejection(description(V2, UnboundPartitionField(Vector("tss"), Day)))
      .getMessage.contains("The columns are id"))
    intercept[InvalidArgument](description(V2).copy(location = "").metadata(Uuid, CreatedMs))
  }

  test("a trailing slash is removed from the location") {
    assert(description(V2).copy(location = "s3://b/t/").metadata(Uuid, CreatedMs).location == "s3://b/t")
  }

  test("identifier fields get the new column ids, and sort fields are bound") {
    val fields = Vector(NestedField.optional(17, "a", IntType), NestedField.required(16, "b", IntType))
    val schema = Schema(0, fields, identifierFieldIds = Set(16))
    val order = Vector(UnboundSortField(Vector("a"), Bucket(4), SortDirection.Descending, NullOrder.NullsLast))
    val m = NewTable(schema, Vector.empty, order, Location, Map.empty).metadata(Uuid, CreatedMs)
    assert(m.schema.identifierFieldIds == Set(2))
    val field = SortField(Vector(1), Bucket(4), SortDirection.Descending, NullOrder.NullsLast)
    assert(m.sortOrder == SortOrder(1, Vector(field)))
  }

  test("a new table's columns have no initial default", TypeRules.createSetsWriteDefault) {
    val defaultOfOne = OfPrimitive(IntLiteral(1))
    val field = NestedField(0, "a", IntType, false, None, Some(defaultOfOne), Some(defaultOfOne))
    val m = table(field).copy(properties = Map("format-version" -> "3")).metadata(Uuid, CreatedMs)
    assert(m.schema.fields.head.initialDefault.isEmpty)
    assert(m.schema.fields.head.writeDefault.contains(defaultOfOne))
  }

  test("a replaced table keeps its UUID, snapshots and log, and is empty") {
    val base = withHistory(V2)
    val next = replaced(base, description(V2))
    assert(next.uuid == base.uuid)
    assert(next.snapshots == base.snapshots && next.snapshotLog == base.snapshotLog)
    assert(next.currentSnapshotId.isEmpty && next.refs.isEmpty)
    assert(next.lastSequenceNumber == base.lastSequenceNumber)
    assert(next.properties == base.properties)
  }

  test("columns of a replaced table keep their ids if the old type can be promoted to the new type") {
    val base = withHistory(V2)
    val next = replaced(
      base,
      table(
        NestedField.optional(0, "new", StringType),
        NestedField.optional(0, "id", LongType),
        NestedField.optional(0, "ts", StringType),
        NestedField.optional(0, "location", StructType(Vector(NestedField.optional(0, "lon", FloatType)))),
        NestedField.optional(0, "tags", MapType(0, StringType, 0, StringType, false))
      )
    )
    val schema = next.schema
    assert(schema.fields.map(_.id) == Vector(15, 1, 16, 5, 7))
    assert(schema.require("location.lon").id == 9)
    assert(schema.require("tags.key").id == 13)
    assert(schema.require("tags.value").id == 17)
    assert(next.lastColumnId == 17)
    assert(!next.spec.isPartitioned && next.specs.size == 2)
  }

  test("replacing a table with the same definition adds no schema and no partition spec") {
    val base = withHistory(V2)
    val next = replaced(base, description(V2, byDay, byBucket))
    assert(next.schemas == base.schemas && next.specs == base.specs)
    assert(next.currentSchemaId == 0 && next.defaultSpecId == 0)
  }

  test(
    "partition fields of a replaced table keep their ids when source and transform are the same",
    PartitionRules.fieldIdReused
  ) {
    val base = withHistory(V2)
    val shard = UnboundPartitionField(Vector("id"), Bucket(16), Some("shard"))
    val next = replaced(base, description(V2, shard, UnboundPartitionField(Vector("id"), Truncate(5))))
    assert(next.spec.fields.map(f => (f.fieldId, f.name)) == Vector((1001, "shard"), (1002, "id_trunc")))
  }

  test(
    "a replaced version 1 table keeps its partition fields in place and makes removed fields void",
    PartitionRules.voidInV1
  ) {
    val base = withHistory(V1)
    val next = replaced(base, description(V1, byBucket, UnboundPartitionField(Vector("day"), Identity)))
    assert(next.spec.fields.map(f => (f.fieldId, f.name, f.transform.name)) == Vector(
      (1000, "ts_day_1000", "void"),
      (1001, "id_bucket", "bucket[16]"),
      (1002, "day", "identity")
    ))
    val again = replaced(next, description(V1))
    assert(again.spec.fields.map(_.name) == Vector("ts_day_1000", "id_bucket_1001", "day_1002"))
  }

  test("a replacement may raise the format version, but cannot lower it") {
    val base = withHistory(V2)
    val unversioned = description(V2).copy(properties = Map("a" -> "b"))
    assert(replaced(base, unversioned).formatVersion == V2)
    assert(replaced(base, unversioned).properties("a") == "b")
    assert(replaced(base, description(V3)).formatVersion == V3)
    intercept[ValidationFailed](replaced(base, description(V1)))
  }

  test("a table that is replaced and then written starts a new history and keeps the old log") {
    val base = withHistory(V3)
    val emptied = replaced(base, description(V3))
    val next = commit(emptied, 4, base.lastUpdatedMs + 2000)
    assert(next.snapshotLog.map(_.snapshotId) == Vector(1L, 2L, 3L, 4L))
    assert(next.snapshot(4).parentSnapshotId.isEmpty)
    assert(next.nextRowId == 40)
  }
}
