package iceberglite.spec.json

import java.lang.management.ManagementFactory
import java.nio.charset.StandardCharsets.UTF_8

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.{JsonRules, MetadataRules}
import iceberglite.spec.{FormatVersion, SampleTables}
import iceberglite.spec.FormatVersion.{V1, V2, V3}
import iceberglite.spec.IcebergError.{InvalidMetadata, Unsupported}
import iceberglite.spec.metadata.{SnapshotLogEntry, TableMetadata}
import iceberglite.spec.metadata.SnapshotRef.{Branch, Main}
import iceberglite.spec.partition.{Day, Identity, PartitionField, SortOrder}
import iceberglite.spec.types.Type._

class TableMetadataJsonSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val File = "file:/warehouse/db/t/metadata/v1.metadata.json"

  private def read(json: String): TableMetadata = TableMetadataJson.read(File, json)

  private def text(m: TableMetadata): String = new String(TableMetadataJson.write(m), UTF_8)

  private def invalid(json: String): InvalidMetadata = {
    val error = intercept[InvalidMetadata](read(json))
    assert(error.file == File)
    error
  }

  /**
   * Metadata in the form of Apache Iceberg's first releases, with one schema without an id, partition fields without
   * ids, and snapshots that list manifests.
   */
  private val oldest = """{
    "format-version": 1,
    "location": "s3://b/t",
    "last-updated-ms": 1602638573874,
    "last-column-id": 3,
    "schema": {"type": "struct", "fields": [
      {"id": 1, "name": "x", "required": true, "type": "long"},
      {"id": 2, "name": "y", "required": true, "type": "long", "doc": "comment"},
      {"id": 3, "name": "z", "required": true, "type": "timestamp"}]},
    "partition-spec": [
      {"name": "x", "transform": "identity", "source-id": 1},
      {"name": "z_day", "transform": "day", "source-id": 3}],
    "properties": {"owner": "me"},
    "current-snapshot-id": 7,
    "snapshots": [{"snapshot-id": 7, "timestamp-ms": 1602638573000, "manifests": ["s3://b/m1.avro"]}],
    "something-new": {"a": [1, 2]}
  }"""

  private val v2 = text(SampleTables.withHistory(V2))

  test("all table metadata round-trips through JSON", JsonRules.roundTrip, JsonRules.snapshots, JsonRules.references) {
    forAll(MetadataGenerators.table)(m => assert(TableMetadataJson.read(File, TableMetadataJson.write(m)) == m))
  }

  test(
    "the oldest layout of version 1 is read, and fields of later versions get defaults",
    MetadataRules.version1Defaults,
    JsonRules.unknownKeys
  ) {
    val m = read(oldest)
    assert(m.formatVersion == V1 && m.uuid.isEmpty && m.lastSequenceNumber == 0)
    assert(m.schema.schemaId == 0 && m.schema.require("z").fieldType == TimestampType)
    assert(m.spec.specId == 0)
    assert(m.spec.fields == Vector(PartitionField(1, 1000, "x", Identity), PartitionField(3, 1001, "z_day", Day)))
    assert(m.lastPartitionId == 1001)
    assert(m.sortOrders == Vector(SortOrder.Unsorted) && m.defaultSortOrderId == 0)
    assert(m.currentSnapshot.map(_.manifests) == Some(Vector("s3://b/m1.avro")))
    assert(m.refs == Map(Main -> Branch(7)))
    assert(m.snapshotLog.isEmpty && m.metadataLog.isEmpty)
  }

  test(
    "the oldest layout is written with both the old and the new keys, and read back unchanged",
    MetadataRules.version1Writing
  ) {
    val m = read(oldest)
    val written = text(m)
    assert(read(written) == m)
    Seq("schema", "schemas", "partition-spec", "partition-specs", "sort-orders", "refs").foreach { key =>
      assert(written.contains(s""""$key":"""))
    }
    Seq("table-uuid", "sequence-number", "next-row-id").foreach(key => assert(!written.contains(key)))
  }

  test(
    "an unpartitioned version 1 table without properties or snapshots is read",
    MetadataRules.version1Defaults,
    MetadataRules.noSnapshot
  ) {
    val m = read("""{"format-version":1,"location":"l","last-updated-ms":1,"last-column-id":1,"partition-spec":[],
      "schema":{"type":"struct","fields":[{"id":1,"name":"x","required":false,"type":"int"}]},
      "current-snapshot-id":-1}""")
    assert(!m.spec.isPartitioned && m.lastPartitionId == 999)
    assert(m.currentSnapshotId.isEmpty && m.refs.isEmpty && m.properties.isEmpty)
  }

  test("if version 1 metadata has lists of schemas, partition specs and sort orders, these lists are read") {
    val m = SampleTables.withHistory(V1)
    assert(read(text(m)) == m)
    assert(text(m).contains("\"schema\":{"))
  }

  test(
    "version 2 omits the keys of version 1, and version 3 has row ids",
    MetadataRules.version1Writing,
    MetadataRules.nextRowId
  ) {
    assert(!v2.contains("\"schema\":") && !v2.contains("\"partition-spec\":") && !v2.contains("next-row-id"))
    assert(v2.contains("\"last-sequence-number\":3"))
    val v3 = text(SampleTables.withHistory(V3))
    assert(v3.contains("\"next-row-id\":30") && v3.contains("\"first-row-id\":20") && v3.contains("\"added-rows\":10"))
    assert(read(v3) == SampleTables.withHistory(V3))
  }

  test(
    "without a current snapshot, current-snapshot-id is -1 up to version 2 and absent in version 3",
    MetadataRules.noSnapshot
  ) {
    Seq(V1, V2).foreach(v => assert(text(SampleTables.empty(v)).contains("\"current-snapshot-id\":-1")))
    assert(!text(SampleTables.empty(V3)).contains("current-snapshot-id"))
    FormatVersion.all.foreach(v => assert(read(text(SampleTables.empty(v))).currentSnapshotId.isEmpty))
    val nulled = text(SampleTables.empty(V3)).replaceFirst("\\{", "{\"current-snapshot-id\":null,")
    assert(read(nulled).currentSnapshotId.isEmpty)
  }

  test("in metadata without refs, the branch main refers to the current snapshot", MetadataRules.mainBranch) {
    val json = v2.replaceAll(""""refs":\{[^}]*\}\},""", "")
    assert(!json.contains("refs"))
    assert(read(json).refs == Map(Main -> Branch(3)))
  }

  test("if version 3 metadata lacks next-row-id, it follows the row ids of the snapshots", MetadataRules.nextRowId) {
    val json = text(SampleTables.withHistory(V3)).replace("\"next-row-id\":30,", "")
    assert(read(json).nextRowId == 30)
  }

  test("last-assigned ids that are too low are raised to the highest id in use", MetadataRules.assignedIds) {
    val json = v2.replace("\"last-column-id\":14", "\"last-column-id\":3")
      .replace("\"last-partition-id\":1001", "\"last-partition-id\":999")
    assert(read(json).lastColumnId == 14)
    assert(read(json).lastPartitionId == 1001)
  }

  test(
    "a format version above 4 is rejected with a message that contains the version and the file",
    MetadataRules.supportedVersions
  ) {
    val error = intercept[Unsupported](read(v2.replace("\"format-version\":2", "\"format-version\":5")))
    assert(error.getMessage.contains("version 5") && error.getMessage.contains(File))
    assert(invalid(v2.replace("\"format-version\":2", "\"format-version\":0")).path == "$.format-version")
  }

  test("the fields that version 2 requires must be present", MetadataRules.requiredFields) {
    Seq(
      "format-version",
      "table-uuid",
      "location",
      "last-sequence-number",
      "last-updated-ms",
      "last-column-id",
      "current-schema-id",
      "schemas",
      "default-spec-id",
      "partition-specs",
      "last-partition-id",
      "default-sort-order-id",
      "sort-orders"
    ).foreach { key =>
      assert(invalid(v2.replaceFirst(s""""$key":""", s""""x$key":""")).reason == s"The key $key is missing")
    }
  }

  test("the error for a truncated file, an empty file or a file that is not JSON names the file", JsonRules.strict) {
    assert(invalid(v2.take(v2.length / 2)).reason.contains("truncated"))
    assert(invalid("").reason == "It is empty")
    assert(invalid("<html>").reason.contains("not valid JSON"))
    assert(invalid(v2 + "}").reason.contains("not valid JSON"))
    assert(invalid("null").path == "$")
    val binary = Array[Byte](0x1f, 0x8b.toByte, 8, 0, 1, 2, 3)
    intercept[InvalidMetadata](TableMetadataJson.read(File, binary))
  }

  test("invalid values are reported with their JSON path", JsonRules.strict, MetadataRules.currentSchema) {
    Seq(
      ("\"last-column-id\":14", "\"last-column-id\":\"14\"", "$.last-column-id"),
      ("\"last-updated-ms\":1", "\"last-updated-ms\":1.5e3,\"x\":1", "$.last-updated-ms"),
      ("\"type\":\"date\"", "\"type\":\"dat\"", "$.schemas[0].fields[2].type"),
      ("\"transform\":\"day\"", "\"transform\":5", "$.partition-specs[0].fields[0].transform"),
      ("\"snapshot-id\":2,", "\"snapshot-id\":9223372036854775808,", "$.snapshots[1].snapshot-id"),
      ("\"table-uuid\":\"fb", "\"table-uuid\":\"xfb", "$.table-uuid"),
      ("\"current-schema-id\":0", "\"current-schema-id\":5", "$.current-schema-id"),
      ("\"default-spec-id\":0", "\"default-spec-id\":5", "$.default-spec-id"),
      ("\"default-sort-order-id\":0", "\"default-sort-order-id\":5", "$.default-sort-order-id"),
      ("\"current-snapshot-id\":3", "\"current-snapshot-id\":99", "$.current-snapshot-id"),
      ("\"current-snapshot-id\":3", "\"current-snapshot-id\":2", "$.refs"),
      ("\"main\":{\"snapshot-id\":3", "\"main\":{\"snapshot-id\":33", "$.refs.main")
    ).foreach { case (from, to, path) =>
      assert(v2.contains(from), from)
      assert(invalid(v2.replace(from, to)).path == path)
    }
  }

  test(
    "empty lists of schemas and partition specs are rejected, and an empty list of sort orders means unsorted",
    MetadataRules.requiredFields
  ) {
    def emptied(key: String): String = v2.replace(s""""$key":[""", s""""$key":[],"x":[""")
    assert(invalid(emptied("schemas")).path == "$.schemas")
    assert(invalid(emptied("partition-specs")).path == "$.partition-specs")
    val unsorted = read(emptied("sort-orders"))
    assert(unsorted.sortOrders == Vector(SortOrder.Unsorted))
  }

  test("equal metadata is written as equal bytes, regardless of the order of its maps") {
    val m = SampleTables.empty(V2)
    val pairs = (1 to 20).map(i => s"k$i" -> s"v$i")
    val (a, b) = (m.copy(properties = pairs.toMap), m.copy(properties = pairs.reverse.toMap))
    assert(text(a) == text(b))
  }

  test("ten times as many snapshots take less than 40 times as long to write and read") {
    val base = SampleTables.withHistory(V2)
    // CPU time is measured, because the machine may run other processes.
    def cpuTime(snapshots: Int): Long = {
      val many = (1 to snapshots).map(i => base.snapshots.head.copy(snapshotId = i.toLong)).toVector
      val m = base.copy(snapshots = many, snapshotLog = many.map(s => SnapshotLogEntry(s.timestampMs, s.snapshotId)))
      val start = ManagementFactory.getThreadMXBean.getCurrentThreadCpuTime
      assert(TableMetadataJson.read(File, TableMetadataJson.write(m)) == m)
      ManagementFactory.getThreadMXBean.getCurrentThreadCpuTime - start
    }
    cpuTime(1000) // compiles the code
    // Ten times as many snapshots take ten times as long; quadratic time would be 100 times as long.
    assert(cpuTime(10000) < 40 * cpuTime(1000))
  }
}
