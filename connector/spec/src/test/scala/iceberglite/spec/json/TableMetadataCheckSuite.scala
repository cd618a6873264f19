package iceberglite.spec.json

import java.nio.charset.StandardCharsets.UTF_8

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.{JsonRules, MetadataRules}
import iceberglite.spec.SampleTables
import iceberglite.spec.FormatVersion.{V1, V2, V3}
import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.metadata.{MetadataLogEntry, Snapshot, SnapshotLogEntry, TableMetadata}
import iceberglite.spec.metadata.SnapshotRef.{Branch, Main, Tag}
import iceberglite.spec.partition.{
  Day,
  Identity,
  NullOrder,
  PartitionField,
  PartitionSpec,
  SortDirection,
  SortField,
  SortOrder,
  Transform,
  Void
}

/** Tests that metadata with contradictions is rejected. */
class TableMetadataCheckSuite extends AnyFunSuite {
  private val table = SampleTables.withHistory(V2)

  private def read(m: TableMetadata): TableMetadata = TableMetadataJson.read("f.json", TableMetadataJson.write(m))

  private def rejection(m: TableMetadata): InvalidMetadata = intercept[InvalidMetadata](read(m))

  private def json(m: TableMetadata): String = new String(TableMetadataJson.write(m), UTF_8)

  test("schemas, partition specs, sort orders or snapshots with duplicate ids are rejected", MetadataRules.uniqueIds) {
    assert(rejection(table.copy(schemas = table.schemas ++ table.schemas)).path == "$.schemas")
    assert(rejection(table.copy(specs = table.specs ++ table.specs)).path == "$.partition-specs")
    assert(rejection(table.copy(sortOrders = table.sortOrders ++ table.sortOrders)).path == "$.sort-orders")
    assert(rejection(table.copy(snapshots = table.snapshots :+ table.snapshots.head)).path == "$.snapshots")
  }

  test("a snapshot with a sequence number above the table's last one is rejected", MetadataRules.sequenceNumbers) {
    val error = rejection(table.copy(lastSequenceNumber = 2))
    assert(error.reason.contains("Snapshot 3 has the sequence number 3, above the table's last, 2"))
    val v1 = SampleTables.withHistory(V1)
    rejection(v1.copy(snapshots = v1.snapshots.map(_.copy(sequenceNumber = 1))))
  }

  test("log entries may be out of order by at most one minute", MetadataRules.commitTimes) {
    val time = table.lastUpdatedMs
    def logged(times: Long*) = table.copy(snapshotLog = times.map(SnapshotLogEntry(_, 1)).toVector)
    assert(read(logged(time, time - 60000, time)).snapshotLog.size == 3)
    assert(rejection(logged(time, time - 60001, time)).path == "$.snapshot-log")
    assert(rejection(logged(time + 60001)).path == "$.snapshot-log")
    val files = Vector(MetadataLogEntry(time + 60001, "v1.metadata.json"))
    assert(rejection(table.copy(metadataLog = files)).path == "$.metadata-log")
    read(logged(Long.MinValue, 0))
  }

  test(
    "source columns of the default partition spec must be current; those of earlier specs may be dropped columns",
    MetadataRules.defaultsBind
  ) {
    def spec(id: Int, source: Int, transform: Transform) =
      PartitionSpec(id, Vector(PartitionField(source, 1000, "p", transform)))
    val old = table.copy(specs = Vector(spec(0, 99, Identity), spec(1, 1, Identity)), defaultSpecId = 1)
    assert(read(old) == old)
    assert(rejection(old.copy(defaultSpecId = 0)).reason.contains("Field 99, the source of partition field p"))
    assert(rejection(table.copy(specs = Vector(spec(0, 1, Day)))).reason.contains("which day does not support"))
    assert(read(table.copy(specs = Vector(spec(0, 99, Void)))).spec.fields.size == 1)
  }

  test(
    "source columns of the default sort order must be current; those of earlier sort orders may be dropped columns",
    MetadataRules.defaultsBind
  ) {
    def order(id: Int, source: Int) =
      SortOrder(id, Vector(SortField(Vector(source), Identity, SortDirection.Ascending, NullOrder.NullsFirst)))
    val old = table.copy(sortOrders = Vector(order(1, 99), order(2, 1)), defaultSortOrderId = 2)
    assert(read(old) == old)
    assert(rejection(old.copy(defaultSortOrderId = 1)).path == "$.default-sort-order-id")
  }

  test("the unsorted order has the id 0, and only that order is unsorted", JsonRules.sortOrders) {
    assert(
      rejection(table.copy(sortOrders = Vector(SortOrder.Unsorted, SortOrder(1, Vector.empty)))).path == "$.sort-orders"
    )
    val field = SortField(Vector(1), Identity, SortDirection.Ascending, NullOrder.NullsFirst)
    rejection(table.copy(sortOrders = Vector(SortOrder(0, Vector(field)))))
  }

  test(
    "the fields of a partition spec have unique names and unique ids, or none of them has an id",
    JsonRules.partitionSpecs
  ) {
    val text = json(table)
    assert(text.contains("\"field-id\":1001,"))
    def fault(to: String) =
      intercept[InvalidMetadata](TableMetadataJson.read("f.json", text.replace("\"field-id\":1001,", to)))
    assert(fault("").reason == "Only 1 of 2 fields have a field-id")
    assert(fault("\"field-id\":1000,").reason == "Two partition fields have the id 1000")
    val names = text.replace("\"name\":\"id_bucket\"", "\"name\":\"ts_day\"")
    assert(intercept[InvalidMetadata](TableMetadataJson.read("f.json", names)).reason.contains("have the name ts_day"))
  }

  test(
    "references point to existing snapshots, and main is a branch",
    MetadataRules.refsExist,
    MetadataRules.mainBranch
  ) {
    assert(rejection(table.copy(refs = table.refs + ("t" -> Tag(99)))).path == "$.refs.t")
    assert(rejection(table.copy(refs = Map(Main -> Tag(3)))).path == "$.refs.main")
    assert(rejection(table.copy(currentSnapshotId = Some(99), refs = Map.empty)).path == "$.current-snapshot-id")
  }

  test("the retention settings of a reference are positive", MetadataRules.refRetentionPositive) {
    assert(rejection(table.copy(refs = Map(Main -> Branch(3, minSnapshotsToKeep = Some(0))))).path == "$.refs.main")
    rejection(table.copy(refs = table.refs + ("t" -> Tag(1, Some(-1)))))
    rejection(table.copy(refs = table.refs + ("b" -> Branch(1, maxSnapshotAgeMs = Some(0)))))
  }

  test("row ids are not negative, do not overflow, and are never assigned twice", MetadataRules.nextRowId) {
    val v3 = SampleTables.withHistory(V3)
    assert(read(v3.copy(nextRowId = 5)).nextRowId == 30)
    assert(rejection(v3.copy(nextRowId = -1)).path == "$.next-row-id")
    def last(change: Snapshot => Snapshot) = v3.copy(snapshots = v3.snapshots.init :+ change(v3.snapshots.last))
    assert(rejection(last(_.copy(addedRows = Some(-1)))).path == "$.snapshots[2].added-rows")
    assert(rejection(last(_.copy(firstRowId = Some(Long.MaxValue)))).path == "$.snapshots")
    val upgraded = v3.copy(snapshots = v3.snapshots.map(_.copy(firstRowId = None, addedRows = None)))
    assert(read(upgraded) == upgraded)
  }

  test(
    "snapshots whose parents form a cycle are read, and listing their ancestors terminates",
    MetadataRules.ancestors
  ) {
    val circle = table.copy(snapshots = table.snapshots.map(s => s.copy(parentSnapshotId = Some(s.snapshotId % 3 + 1))))
    val m = read(circle)
    assert(m.ancestors(m.snapshot(3)).map(_.snapshotId).toVector == Vector(3, 1, 2))
  }
}
