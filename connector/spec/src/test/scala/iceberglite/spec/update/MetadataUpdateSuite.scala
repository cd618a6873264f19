package iceberglite.spec.update

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.{MetadataRules, PartitionRules, TypeRules}
import iceberglite.spec.{IcebergError, ObjectKind}
import iceberglite.spec.FormatVersion.{V1, V2, V3}
import iceberglite.spec.IcebergError._
import iceberglite.spec.SampleTables._
import iceberglite.spec.metadata.{
  EncryptionKey,
  MetadataLog,
  MetadataLogEntry,
  PartitionStatisticsFile,
  SnapshotLogEntry,
  StatisticsFile,
  TableMetadata
}
import iceberglite.spec.metadata.SnapshotRef.{Branch, Main, Tag}
import iceberglite.spec.partition.{
  Identity,
  NullOrder,
  PartitionField,
  PartitionSpec,
  SortDirection,
  SortField,
  SortOrder
}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type._
import iceberglite.spec.update.MetadataUpdate._

class MetadataUpdateSuite extends AnyFunSuite {
  private val laterMs = CreatedMs + 60000

  private def applied(base: TableMetadata, updates: MetadataUpdate*): TableMetadata = applyAll(base, updates, laterMs)

  private def rejection(base: TableMetadata, updates: MetadataUpdate*): String =
    intercept[ValidationFailed](applied(base, updates: _*)).getMessage

  private def withColumn(m: TableMetadata, name: String): Schema = {
    val id = m.lastColumnId + 1
    m.schema.copy(fields = m.schema.fields :+ NestedField.optional(id, name, StringType))
  }

  test("a UUID is assigned once and never changes", MetadataRules.uuid) {
    val base = empty(V2)
    assert(applied(base, AssignUuid(Uuid)).uuid.contains(Uuid))
    assert(rejection(base, AssignUuid(new UUID(1, 2))).contains("never changes"))
  }

  test("the format version can be raised, also by more than one, but cannot be lowered", MetadataRules.upgrade) {
    assert(applied(empty(V1), UpgradeFormatVersion(V2)).formatVersion == V2)
    val upgraded = applied(withHistory(V1), UpgradeFormatVersion(V3))
    assert(upgraded.formatVersion == V3)
    assert(upgraded.nextRowId == 0)
    assert(rejection(empty(V3), UpgradeFormatVersion(V2)).contains("from format version 3 to 2"))
  }

  test("a version 1 table without a UUID cannot be upgraded before it has a UUID", MetadataRules.upgrade) {
    val base = empty(V1).copy(uuid = None)
    assert(rejection(base, UpgradeFormatVersion(V2)).contains("assign a UUID"))
    assert(applied(base, AssignUuid(Uuid), UpgradeFormatVersion(V2)).formatVersion == V2)
  }

  test(
    "a new schema gets the next id, and -1 refers to it as the current schema",
    MetadataRules.lastAdded,
    MetadataRules.assignedIds
  ) {
    val base = empty(V2)
    val next = applied(base, AddSchema(withColumn(base, "extra"), base.lastColumnId + 1), SetCurrentSchema(LastAdded))
    assert(next.currentSchemaId == 1)
    assert(next.schemas.map(_.schemaId) == Vector(0, 1))
    assert(next.lastColumnId == base.lastColumnId + 1)
    assert(next.schema.fields.last.name == "extra")
  }

  test("a schema with the same columns as an existing schema is not added", MetadataRules.reuse, TypeRules.schemaIds) {
    val base = empty(V2)
    val added = applied(base, AddSchema(withColumn(base, "extra"), base.lastColumnId + 1), SetCurrentSchema(LastAdded))
    val sameSchema = AddSchema(base.schema.copy(schemaId = 7), base.lastColumnId)
    val restored = applied(added, sameSchema, SetCurrentSchema(LastAdded))
    assert(restored.currentSchemaId == 0)
    assert(restored.schemas.size == 2)
    assert(restored.lastColumnId == added.lastColumnId)
  }

  test(
    "the id -1 is rejected if the commit adds no schema, partition spec or sort order",
    MetadataRules.lastAdded
  ) {
    val base = empty(V2)
    Seq(SetCurrentSchema(LastAdded), SetDefaultSpec(LastAdded), SetDefaultSortOrder(LastAdded)).foreach { update =>
      assert(rejection(base, update).contains("the change adds no "))
    }
  }

  test("an unknown schema, partition spec or sort order cannot become current", MetadataRules.currentSchema) {
    Seq(SetCurrentSchema(9), SetDefaultSpec(9), SetDefaultSortOrder(9)).foreach { update =>
      assert(intercept[NotFound](applied(empty(V2), update)).name == "9")
    }
  }

  test("a schema without the source of a partition field cannot become current", MetadataRules.defaultsBind) {
    val base = empty(V2, byDay)
    val without = base.schema.copy(fields = base.schema.fields.filterNot(_.name == "ts"))
    val message = rejection(base, AddSchema(without, base.lastColumnId), SetCurrentSchema(LastAdded))
    assert(message.contains("ts_day"))
  }

  test("a schema with a type of a later version is rejected") {
    val base = empty(V2)
    val id = base.lastColumnId + 1
    val schema = base.schema.copy(fields = base.schema.fields :+ NestedField.optional(id, "n", TimestampNsType))
    val error = intercept[Unsupported](applied(base, AddSchema(schema, id)))
    assert(error.getMessage.contains("timestamp_ns of column n"))
  }

  test(
    "a compatible partition spec is reused, and a new spec gets the next id",
    MetadataRules.reuse,
    PartitionRules.compatibleSpec
  ) {
    val base = empty(V2, byDay)
    val unchanged = applied(base, AddPartitionSpec(base.spec.copy(specId = 5)), SetDefaultSpec(LastAdded))
    assert(unchanged.specs == base.specs)
    val added = PartitionSpec(0, Vector(PartitionField(1, 1001, "id", Identity)))
    val next = applied(base, AddPartitionSpec(added), SetDefaultSpec(LastAdded))
    assert(next.defaultSpecId == 1)
    assert(next.lastPartitionId == 1001)
  }

  test("a partition field id that belongs to another field is rejected", PartitionRules.fieldIdsUnique) {
    val base = empty(V2, byDay)
    val spec = PartitionSpec(0, Vector(PartitionField(1, 1000, "id", Identity)))
    assert(rejection(base, AddPartitionSpec(spec)).contains("belongs to ts_day"))
  }

  test(
    "a partition spec with a duplicate name or id, or with an unknown source column, is rejected",
    PartitionRules.fieldIdsUnique
  ) {
    val base = empty(V2)
    def spec(fields: PartitionField*) = AddPartitionSpec(PartitionSpec(0, fields.toVector))
    val a = PartitionField(1, 1000, "a", Identity)
    assert(rejection(base, spec(a, a.copy(fieldId = 1001))).contains("have the name a"))
    assert(rejection(base, spec(a, a.copy(name = "b"))).contains("1000"))
    assert(rejection(base, spec(a.copy(sourceIds = Vector(99)))).contains("field 99"))
  }

  test("partition field ids of version 1 must be consecutive from 1000", PartitionRules.idsOfV1) {
    val spec = PartitionSpec(0, Vector(PartitionField(1, 1005, "id", Identity)))
    assert(rejection(empty(V1), AddPartitionSpec(spec)).contains("upgrade the table to version 2"))
  }

  test(
    "sort order ids start at 1, 0 is unsorted, and an equal order is reused",
    MetadataRules.reuse,
    PartitionRules.equalOrder,
    PartitionRules.unsorted
  ) {
    val field = SortField(Vector(1), Identity, SortDirection.Ascending, NullOrder.NullsFirst)
    val base = empty(V2)
    val sorted = applied(base, AddSortOrder(SortOrder(9, Vector(field))), SetDefaultSortOrder(LastAdded))
    assert(sorted.sortOrder == SortOrder(1, Vector(field)))
    val unsorted = applied(sorted, AddSortOrder(SortOrder.Unsorted), SetDefaultSortOrder(LastAdded))
    assert(unsorted.defaultSortOrderId == 0)
    val again = applied(unsorted, AddSortOrder(SortOrder(4, Vector(field))), SetDefaultSortOrder(LastAdded))
    assert(again.defaultSortOrderId == 1)
    assert(again.sortOrders.size == 2)
  }

  test("a snapshot belongs to no branch until a reference points to it") {
    val base = empty(V2)
    val added = applied(base, AddSnapshot(snapshot(base, 1, laterMs)))
    assert(added.snapshots.map(_.snapshotId) == Vector(1L))
    assert(added.currentSnapshotId.isEmpty)
    assert(added.lastSequenceNumber == 1)
    assert(added.snapshotLog.isEmpty)
  }

  test("a snapshot on main becomes current and is logged with its own time", MetadataRules.snapshotLog) {
    val base = empty(V2)
    val committed = applyAll(
      base,
      Seq(AddSnapshot(snapshot(base, 1, laterMs)), SetSnapshotRef(Main, Branch(1))),
      nowMs = laterMs + 5
    )
    assert(committed.currentSnapshotId.contains(1L))
    assert(committed.snapshotLog == Vector(SnapshotLogEntry(laterMs, 1)))
    assert(committed.lastUpdatedMs == laterMs)
    assert(committed.refs == Map(Main -> Branch(1)))
  }

  test("a rollback is logged with the time of the commit", MetadataRules.snapshotLog) {
    val rolledBack = applied(withHistory(V2), SetSnapshotRef(Main, Branch(1)))
    assert(rolledBack.snapshotLog.last == SnapshotLogEntry(laterMs, 1))
    assert(rolledBack.snapshotLog.size == 4)
    assert(rolledBack.lastUpdatedMs == laterMs)
  }

  test("a change that sets only the retention settings of main is not logged", MetadataRules.snapshotLog) {
    val base = withHistory(V2)
    val next = applied(base, SetSnapshotRef(Main, Branch(3, minSnapshotsToKeep = Some(5))))
    assert(next.snapshotLog == base.snapshotLog)
    assert(next.refs(Main) == Branch(3, minSnapshotsToKeep = Some(5)))
  }

  test("snapshots that were on main only within one commit are not logged", MetadataRules.intermediates) {
    val base = withHistory(V2)
    val first = snapshot(base, 11, laterMs)
    val second = first.copy(snapshotId = 12, parentSnapshotId = Some(11L), sequenceNumber = 5)
    val next = applied(
      base,
      AddSnapshot(first),
      SetSnapshotRef(Main, Branch(11)),
      AddSnapshot(second),
      SetSnapshotRef(Main, Branch(12))
    )
    assert(next.snapshotLog.map(_.snapshotId) == Vector(1L, 2L, 3L, 12L))
    assert(next.snapshots.map(_.snapshotId) == Vector(1L, 2L, 3L, 11L, 12L))
    assert(next.lastSequenceNumber == 5)
  }

  test(
    "a snapshot with an existing id, a wrong sequence number or no manifest list is rejected",
    MetadataRules.sequenceNumbers,
    MetadataRules.snapshotIds
  ) {
    val base = withHistory(V2)
    assert(rejection(base, AddSnapshot(snapshot(base, 3, laterMs))).contains("has a snapshot with this id"))
    val old = snapshot(base, 4, laterMs).copy(sequenceNumber = 3)
    assert(rejection(base, AddSnapshot(old)).contains("sequence number 3 is not above the table's last one, 3"))
    assert(rejection(empty(V1), AddSnapshot(old)).contains("version 1 has no sequence numbers"))
    assert(rejection(base, AddSnapshot(snapshot(base, 4, laterMs).copy(manifestList = None))).contains("manifest list"))
  }

  test("a snapshot may be at most one minute older than the table's last update", MetadataRules.commitTimes) {
    val base = withHistory(V2)
    applied(base, AddSnapshot(snapshot(base, 4, base.lastUpdatedMs - 60000)))
    assert(rejection(base, AddSnapshot(snapshot(base, 4, base.lastUpdatedMs - 60001))).contains("clock"))
  }

  test("a commit with a clock that is more than one minute behind is rejected", MetadataRules.commitTimes) {
    val base = withHistory(V2)
    val change = Seq(SetProperties(Map("a" -> "b")))
    assert(applyAll(base, change, base.lastUpdatedMs - 60000).properties("a") == "b")
    val error = intercept[ValidationFailed](applyAll(base, change, base.lastUpdatedMs - 60001))
    assert(error.getMessage.contains("clock"))
  }

  test(
    "a version 3 snapshot starts at the table's next row id and increases it by its rows, on any branch",
    MetadataRules.nextRowId
  ) {
    val base = withHistory(V3)
    assert(base.nextRowId == 30)
    val branched = applied(base, AddSnapshot(snapshot(base, 4, laterMs, rows = 7)), SetSnapshotRef("audit", Branch(4)))
    assert(branched.nextRowId == 37)
    assert(branched.currentSnapshotId.contains(3L))
    val wrong = snapshot(base, 4, laterMs).copy(firstRowId = Some(29L))
    assert(rejection(base, AddSnapshot(wrong)).contains("first-row-id is 29"))
    assert(rejection(base, AddSnapshot(wrong.copy(firstRowId = None))).contains("first-row-id is absent"))
    assert(rejection(base, AddSnapshot(wrong.copy(firstRowId = Some(30L), addedRows = None))).contains("added-rows"))
  }

  test(
    "expiring a snapshot removes its references, its statistics and earlier log entries",
    MetadataRules.snapshotLogExpiry,
    MetadataRules.statistics
  ) {
    val tagged = applied(
      withHistory(V2),
      SetSnapshotRef("old", Tag(2)),
      SetSnapshotRef("first", Tag(1)),
      SetStatistics(StatisticsFile(2, "s.puffin", 10, 5, None, Vector.empty)),
      SetPartitionStatistics(PartitionStatisticsFile(2, "p.parquet", 10))
    )
    val expired = applied(tagged, RemoveSnapshots(Set(2L)))
    assert(expired.snapshots.map(_.snapshotId) == Vector(1L, 3L))
    assert(expired.refs.keySet == Set(Main, "first"))
    assert(expired.snapshotLog.map(_.snapshotId) == Vector(3L))
    assert(expired.statistics.isEmpty && expired.partitionStatistics.isEmpty)
  }

  test("expiring an unknown snapshot changes nothing") {
    val base = withHistory(V2)
    assert(applied(base, RemoveSnapshots(Set(99L))).copy(lastUpdatedMs = base.lastUpdatedMs) == base)
  }

  test("the current snapshot cannot be removed") {
    assert(rejection(withHistory(V2), RemoveSnapshots(Set(3L))).contains("it is the current snapshot"))
  }

  test(
    "a reference needs an existing snapshot and positive retention settings, and main is always a branch",
    MetadataRules.refsExist,
    MetadataRules.mainBranch,
    MetadataRules.refRetentionPositive
  ) {
    val base = withHistory(V2)
    assert(intercept[NotFound](applied(base, SetSnapshotRef("t", Tag(9)))).kind == ObjectKind.Snapshot)
    intercept[InvalidArgument](applied(base, SetSnapshotRef(Main, Tag(1))))
    intercept[InvalidArgument](applied(base, SetSnapshotRef("b", Branch(1, minSnapshotsToKeep = Some(0)))))
  }

  test("a table without main is empty and keeps its snapshots and its log", MetadataRules.mainBranch) {
    val base = withHistory(V2)
    val emptied = applied(base, RemoveSnapshotRef(Main))
    assert(emptied.currentSnapshotId.isEmpty)
    assert(emptied.snapshots == base.snapshots)
    assert(emptied.snapshotLog == base.snapshotLog)
  }

  test(
    "unused schemas and partition specs can be removed, but the current schema and the default spec cannot",
    MetadataRules.removals
  ) {
    val base = empty(V2, byDay)
    val two = applied(
      base,
      AddSchema(withColumn(base, "extra"), base.lastColumnId + 1),
      AddPartitionSpec(PartitionSpec(0, Vector(PartitionField(1, 1001, "id", Identity))))
    )
    val one = applied(two, RemoveSchemas(Set(1, 77)), RemovePartitionSpecs(Set(1, 77)))
    assert(one.schemas == base.schemas && one.specs == base.specs)
    assert(one.lastColumnId == two.lastColumnId && one.lastPartitionId == two.lastPartitionId)
    assert(rejection(two, RemoveSchemas(Set(0))).contains("Cannot remove schema 0"))
    assert(rejection(two, RemovePartitionSpecs(Set(0))).contains("Cannot remove partition spec 0"))
  }

  test("the id of a new snapshot must be positive", MetadataRules.snapshotIds) {
    val base = withHistory(V2)
    Seq(0L, -1L).foreach(id => assert(rejection(base, AddSnapshot(snapshot(base, id, laterMs))).contains("positive")))
  }

  test("properties and encryption keys are set and removed, and the location is set") {
    val base = empty(V3)
    val set = applied(
      base,
      SetProperties(Map("a" -> "1", "b" -> "2")),
      RemoveProperties(Set("a", "c")),
      SetLocation("s3://x")
    )
    assert(set.properties - TableProperty.ParquetCodec.key == Map("b" -> "2"))
    assert(set.location == "s3://x")
    val key = EncryptionKey("k", "bWV0YQ==", None, Map.empty)
    val keyed = applied(base, AddEncryptionKey(key), AddEncryptionKey(key.copy(encryptedById = Some("m"))))
    assert(keyed.encryptionKeys == Vector(key.copy(encryptedById = Some("m"))))
    assert(applied(keyed, RemoveEncryptionKey("k")).encryptionKeys.isEmpty)
    assert(rejection(empty(V2), AddEncryptionKey(key)).contains("below 3"))
  }

  test("a snapshot has at most one statistics file of each kind", MetadataRules.statistics) {
    val file = StatisticsFile(1, "a.puffin", 10, 5, None, Vector.empty)
    val partition = PartitionStatisticsFile(1, "a.parquet", 10)
    val base = applied(withHistory(V2), SetStatistics(file), SetPartitionStatistics(partition))
    val next = applied(
      base,
      SetStatistics(file.copy(statisticsPath = "b.puffin")),
      SetPartitionStatistics(partition.copy(statisticsPath = "b.parquet"))
    )
    assert(next.statistics.map(_.statisticsPath) == Vector("b.puffin"))
    assert(next.partitionStatistics.map(_.statisticsPath) == Vector("b.parquet"))
    val removed = applied(next, RemoveStatistics(1), RemovePartitionStatistics(1))
    assert(removed.statistics.isEmpty && removed.partitionStatistics.isEmpty)
  }

  test("a snapshot can be committed to a table whose default sort order has a missing column") {
    val flawed = withHistory(V2)
    val order = SortOrder(1, Vector(SortField(Vector(99), Identity, SortDirection.Ascending, NullOrder.NullsFirst)))
    val base = flawed.copy(sortOrders = Vector(order), defaultSortOrderId = 1)
    assert(commit(base, 4, laterMs).currentSnapshotId.contains(4L))
  }

  test("a table cannot be created from an incomplete list of updates") {
    intercept[IcebergError](create(Seq(SetLocation("x")), laterMs))
    intercept[IcebergError](create(Nil, laterMs))
  }

  test(
    "the metadata log keeps the newest entries, at least one, and the files of removed entries are found",
    MetadataRules.metadataLog
  ) {
    val base = empty(V2).copy(metadataLog = Vector(MetadataLogEntry(1, "v1"), MetadataLogEntry(2, "v2")))
    assert(MetadataLog.append(base, "v3", 100).map(_.metadataFile) == Vector("v1", "v2", "v3"))
    assert(MetadataLog.append(base, "v3", 100).last.timestampMs == base.lastUpdatedMs)
    assert(MetadataLog.append(base, "v3", 0).map(_.metadataFile) == Vector("v3"))
    val next = base.copy(metadataLog = MetadataLog.append(base, "v3", 2))
    assert(MetadataLog.removedFiles(base, next) == Vector("v1"))
  }
}
