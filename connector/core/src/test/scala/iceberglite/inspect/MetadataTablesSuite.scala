package iceberglite.inspect

import java.nio.ByteBuffer

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.TestMetadata._
import iceberglite.conformance.PartitionRules
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.expr.Expression.{AlwaysTrue, IsNull}
import iceberglite.spec.expr.Term
import iceberglite.spec.file.MetricMaps
import iceberglite.spec.metadata.{MetadataLogEntry, Snapshot, SnapshotLogEntry, SnapshotRef}
import iceberglite.spec.partition.{Bucket, Day, Identity, PartitionField, PartitionSpec, PartitionTuple, Void}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, SingleValue, Type}
import iceberglite.spec.types.Literal.{DateLiteral, DoubleLiteral, IntLiteral, StringLiteral}
import iceberglite.spec.types.Type._
import iceberglite.tree.{DefaultVersion, ManifestsOnly, TestTable, TreeReader}
import iceberglite.tree.TestTable._
import iceberglite.tree.manifestlist.{DataFileColumns, PartitionCodec}

class MetadataTablesSuite extends AnyFunSuite {
  private val schema = Schema(
    0,
    Vector(
      NestedField.required(1, "id", IntType),
      NestedField.optional(2, "ts", TimestampType),
      NestedField.optional(3, "place", StructType(Vector(NestedField.optional(4, "name", StringType)))),
      NestedField.optional(5, "tags", ListType(6, StringType, elementRequired = false))
    )
  )
  private val byDay = PartitionSpec(0, Vector(PartitionField(2, 1000, "ts_day", Day)))
  private val byDayAndBucket =
    PartitionSpec(1, Vector(PartitionField(2, 1000, "day", Day), PartitionField(1, 1001, "id_bucket", Bucket(4))))

  private def day(days: Int): PartitionTuple = PartitionTuple(Vector(Some(DateLiteral(days))))
  private def dayAndBucket(days: Int, bucket: Int): PartitionTuple =
    PartitionTuple(Vector(Some(DateLiteral(days)), Some(IntLiteral(bucket))))

  private val metrics = MetricMaps(
    columnSizes = Some(Map(1 -> 40L, 4 -> 8L)),
    valueCounts = Some(Map(1 -> 10L, 4 -> 10L)),
    nullValueCounts = Some(Map(1 -> 0L, 4 -> 3L)),
    nanValueCounts = None,
    lowerBounds = Some(Map(1 -> SingleValue.encode(IntLiteral(7)), 4 -> SingleValue.encode(StringLiteral("a")))),
    upperBounds = Some(Map(1 -> SingleValue.encode(IntLiteral(9)), 4 -> ByteBuffer.wrap("z".getBytes)))
  )

  private def evolved: TestTable = evolved(DefaultVersion.version)

  private def evolved(version: FormatVersion): TestTable = {
    val t = new TestTable(schema, Vector(byDay, byDayAndBucket), version)
    t.append(file("a", day(1), metrics = metrics, splitOffsets = Vector(4L)), file("b", day(2)))
    t.append(file("c", dayAndBucket(1, 3), specId = 1, records = 5, size = 70))
    t
  }

  private def rows(t: TestTable, name: String): Vector[Map[String, Any]] = rows(t, name, t.metadata.currentSnapshot)

  private def rows(t: TestTable, name: String, snapshot: Option[Snapshot]): Vector[Map[String, Any]] = {
    val found = MetadataTables.find(name).get
    val s = found.schema(t.table)
    val all = found.rows(t.table, snapshot).toVector
    all.foreach(r => assertFits(r, s.asStruct, name))
    all.map(r => s.fields.map(_.name).zip(r.values).toMap)
  }

  /** Checks that every value has the class that [[MetadataRow]] documents. */
  private def assertFits(value: Any, t: Type, where: String): Unit = {
    def field(v: Any, f: NestedField): Unit = v match {
      case Some(inner) if f.optional => assertFits(inner, f.fieldType, s"$where.${f.name}")
      case None if f.optional => ()
      case bare if f.required => assertFits(bare, f.fieldType, s"$where.${f.name}")
      case other => fail(s"$where.${f.name} is $other")
    }
    (t, value) match {
      case (s: StructType, MetadataRow(values)) =>
        assert(values.size == s.fields.size, where)
        values.zip(s.fields).foreach { case (v, f) => field(v, f) }
      case (l: ListType, vs: Vector[_]) => vs.foreach(field(_, l.elementField))
      case (m: MapType, vs: Map[_, _]) => vs.foreach { case (k, v) =>
          field(k, m.keyField)
          field(v, m.valueField)
        }
      case (BooleanType, _: Boolean) | (IntType | DateType, _: Int) | (StringType, _: String) => ()
      case (DoubleType, _: Double) => ()
      case (LongType | TimestampType | TimestampTzType, _: Long) | (BinaryType, _: ByteBuffer) => ()
      case (other, v) => fail(s"$where: $v is not a value of type $other")
    }
  }

  private def fileName(row: Map[String, Any]): String = row("file_path").toString.split('/').last

  test("for every kind of table, each metadata table has unique field ids and names, and rows that match its schema") {
    val unpartitioned = new TestTable(schema, version = FormatVersion.V2)
    unpartitioned.append(file("a", metrics = metrics))
    unpartitioned.append(positionDeletes("p", Some("a")))
    unpartitioned.upgrade()
    val v1 = new TestTable(schema, version = FormatVersion.V1)
    v1.append(file("a"))
    val v3 = new TestTable(schema, Vector(byDay), FormatVersion.V3)
    v3.append(file("a", day(1)))
    val v4 = new TestTable(schema, Vector(byDay), FormatVersion.V4)
    v4.append(file("a", day(1)))
    Seq(evolved, unpartitioned, v1, v3, v4, new TestTable(schema)).foreach { t =>
      MetadataTables.all.foreach { m =>
        val fields = m.schema(t.table).fields
        val ids = Schema.fieldsOf(StructType(fields)).map(_.id)
        assert(ids.distinct == ids, m.name)
        assert(fields.map(_.name).distinct == fields.map(_.name), m.name)
        // The delete files of these tables exist only in the manifests.
        if (m != PositionDeletesTable || rows(t, "delete_files").isEmpty) rows(t, m.name)
      }
    }
    assert(MetadataTables.all.map(_.name).distinct.size == MetadataTables.all.size)
    assert(MetadataTables.find("SNAPSHOTS").contains(SnapshotsTable) && MetadataTables.find("nothing").isEmpty)
  }

  test("the metadata table snapshots lists the snapshots, and shows the operation separately from the summary") {
    val first = rows(evolved, "snapshots").head
    assert(first("committed_at") == 1000000L && first("snapshot_id") == 1L && first("parent_id") == None)
    assert(first("operation") == Some("append") && first("summary") == Some(Map("added-data-files" -> "2")))
    assert(rows(evolved, "snapshots").map(_("parent_id")) == Vector(None, Some(1L)))
  }

  test("the metadata table history distinguishes rolled-back snapshots from ancestors of the current snapshot") {
    val t = evolved
    val log = SnapshotLogEntry(3000, 1)
    t.metadata = t.metadata.edited(currentSnapshotId = Some(1), snapshotLog = t.metadata.snapshotLog :+ log)
    assert(rows(t, "history").map(r => r("snapshot_id") -> r("is_current_ancestor")) ==
      Vector(1L -> true, 2L -> false, 1L -> true))
    assert(rows(t, "history").last("made_current_at") == 3000000L)
  }

  test("the metadata table refs lists branches and tags with their retention settings") {
    val t = evolved
    t.metadata = t.metadata.edited(refs =
      t.metadata.refs ++ Map("t1" -> SnapshotRef.Tag(1, Some(5L)), "dev" -> SnapshotRef.Branch(2, Some(3), Some(4L)))
    )
    val byName = rows(t, "refs").map(r => r("name") -> r).toMap
    assert(byName.keySet == Set("main", "t1", "dev"))
    assert(byName("t1")("type") == "TAG" && byName("t1")("max_reference_age_in_ms") == Some(5L))
    assert(byName("dev")("type") == "BRANCH" && byName("dev")("min_snapshots_to_keep") == Some(3))
  }

  test("the last row of the metadata table metadata_log_entries is the current metadata file") {
    val t = evolved
    t.metadata = t.metadata.edited(lastUpdatedMs = 2500, metadataLog = Vector(MetadataLogEntry(1500, "mem:/old.json")))
    val entries = rows(t, "metadata_log_entries")
    assert(entries.map(_("file")) == Vector("mem:/old.json", "mem:/t/metadata/v1.metadata.json"))
    assert(entries.map(_("latest_snapshot_id")) == Vector(Some(1L), Some(2L)))
    assert(entries.map(_("latest_sequence_number")) == Vector(Some(1L), Some(2L)))
  }

  test("the metadata table properties lists the properties that are set, and the defaults of the supported ones") {
    val t = evolved
    t.metadata = t.metadata.edited(properties =
      Map("write.parquet.page-row-limit" -> "7", "write.delete.parquet.page-row-limit" -> "8", "owner" -> "me")
    )
    val byKey = rows(t, "properties").map(r => r("key") -> r).toMap
    def shown(key: String) = Seq("value", "is_set", "is_known", "default_value").map(byKey(key))
    assert(shown("write.parquet.page-row-limit") == Seq(Some("7"), true, true, Some("20000")))
    assert(shown("write.delete.parquet.page-row-limit") == Seq(Some("8"), true, true, None))
    assert(shown("owner") == Seq(Some("me"), true, false, None))
    assert(shown("commit.retry.num-retries") == Seq(Some("4"), false, true, Some("4")))
    assert(shown("write.distribution-mode") == Seq(None, false, true, None))
    assert(shown("format-version") == Seq(Some(DefaultVersion.version.toString), true, true, Some("2")))
    assert(byKey("read.split.adaptive-size.enabled")("description") != None && byKey("owner")("description") == None)
  }

  test("the metadata table files lists the live files of all partition specs, with a common partition type") {
    val t = evolved
    val columns = MetadataTables.find("files").get.schema(t.table).fields
    assert(columns.take(7).map(_.name) ==
      Vector("content", "file_path", "file_format", "spec_id", "partition", "record_count", "file_size_in_bytes"))
    assert(columns.find(_.name == "partition").get.fieldType == StructType(Vector(
      NestedField.optional(1000, "day", DateType),
      NestedField.optional(1001, "id_bucket", IntType)
    )))
    val found = rows(t, "files").map(r => fileName(r) -> r("partition"))
    assert(found == Vector(
      "c.parquet" -> MetadataRow.of(Some(1), Some(3)),
      "a.parquet" -> MetadataRow.of(Some(1), None),
      "b.parquet" -> MetadataRow.of(Some(2), None)
    ))
    t.commit(Vector.empty, removing("a"))
    assert(rows(t, "files").map(fileName).sorted == Vector("b.parquet", "c.parquet"))
    assert(rows(t, "files", Some(t.metadata.snapshot(1))).map(fileName) == Vector("a.parquet", "b.parquet"))
    assert(rows(t, "all_data_files").map(fileName).toSet == Set("a.parquet", "b.parquet", "c.parquet"))
  }

  test("the metadata table all_data_files has a row for each manifest that lists a file as live", ManifestsOnly) {
    val t = evolved
    t.commit(Vector.empty, removing("a"))
    assert(rows(t, "all_data_files").map(fileName).sorted ==
      Vector("a.parquet", "b.parquet", "b.parquet", "c.parquet"))
  }

  test("the fields of data_file have the same types in the metadata table files as in manifests") {
    val tables = MetadataTables.find("files").get.schema(evolved.table).fields.map(f => f.name -> f.fieldType).toMap
    val manifests = new DataFileColumns(PartitionCodec.Ignored).struct(FormatVersion.V3).fields
    manifests.filterNot(_.name == "partition").foreach(f => assert(tables.get(f.name).contains(f.fieldType), f.name))
  }

  test("the metadata table files of an unpartitioned table has no partition column") {
    assert(!MetadataTables.find("files").get.schema(new TestTable(schema).table).fields.exists(_.name == "partition"))
  }

  test("the column readable_metrics has a struct for each primitive column, with its full name") {
    val t = evolved
    val field = MetadataTables.find("files").get.schema(t.table).fields.last
    val structs = field.fieldType.asInstanceOf[StructType].fields
    assert(field.name == "readable_metrics" && structs.map(_.name) == Vector("id", "place.name", "tags.element", "ts"))
    val Some(MetadataRow(values)) = rows(t, "files").find(fileName(_) == "a.parquet").get("readable_metrics")
    // The entries of version 4 have no column sizes.
    def size(bytes: Long) = Some(bytes).filter(_ => t.metadata.formatVersion < FormatVersion.V4)
    assert(values(0) == Some(MetadataRow.of(size(40L), Some(10L), Some(0L), None, Some(7), Some(9))))
    assert(values(1) == Some(MetadataRow.of(size(8L), Some(10L), Some(3L), None, Some("a"), Some("z"))))
    assert(values(2) == Some(MetadataRow.of(None, None, None, None, None, None)))
  }

  test(
    "a request for fields of readable_metrics gets these fields, and only the metrics of their columns are decoded"
  ) {
    val t = evolved
    val files = MetadataTables.find("files").get
    val column = files.schema(t.table).fields.last
    val StructType(structs) = column.fieldType
    val StructType(ofId) = structs.head.fieldType
    val bounds = StructType(Vector(structs.head.copy(fieldType = StructType(ofId.filter(_.name == "lower_bound")))))
    val request = RowRequest(Vector("readable_metrics"), AlwaysTrue, Map("readable_metrics" -> bounds))
    val selected = files.select(t.table, t.metadata.currentSnapshot, request).toVector
    def row(lower: Option[Int]) = MetadataRow.of(Some(MetadataRow.of(Some(MetadataRow.of(lower)))))
    assert(selected.toSet == Set(row(Some(7)), row(None)) && selected.size == 3)
    val decoded = new ReadableMetrics(schema).values(column, Some(request))(file("a", day(1), metrics = metrics))
    assert(decoded.map(_.values.map(_.asInstanceOf[Option[MetadataRow]].isDefined)) ==
      Some(Vector(true, false, false, false)))
    val StructType(ofName) = structs(1).fieldType
    val filtered = request.copy(filter = IsNull(Term.Bound(ofName.head, "n")))
    val withFilter = new ReadableMetrics(schema).values(column, Some(filtered))(file("a", day(1), metrics = metrics))
    assert(withFilter.map(_.values.map(_.asInstanceOf[Option[MetadataRow]].isDefined)) ==
      Some(Vector(true, true, false, false)))
  }

  test("a bound that is not a valid value of its column is shown as null") {
    val t = new TestTable(schema)
    t.append(file("a", metrics = MetricMaps(lowerBounds = Some(Map(1 -> ByteBuffer.wrap(Array[Byte](1, 2)))))))
    val Some(MetadataRow(values)) = rows(t, "files").head("readable_metrics")
    assert(values.head == Some(MetadataRow.of(None, None, None, None, None, None)))
  }

  test("the metadata table data_files lists only data files, and delete_files lists only delete files") {
    val t = new TestTable(schema, version = FormatVersion.V2)
    t.append(file("a"), positionDeletes("p", Some("a")), equalityDeletes("e"))
    t.upgrade()
    assert(rows(t, "data_files").map(fileName) == Vector("a.parquet"))
    val deletes = rows(t, "delete_files")
    assert(deletes.map(fileName) == Vector("p.parquet", "e.parquet"))
    assert(deletes.map(_("content")) == Vector(Some(1), Some(2)))
    assert(deletes.map(_("equality_ids")) == Vector(None, Some(Vector(1))))
    assert(deletes.head("referenced_data_file") == Some("mem:/t/data/a.parquet"))
  }

  test("the metadata table entries lists deleted entries too, with the sequence number of each entry", ManifestsOnly) {
    val t = evolved
    t.commit(Vector.empty, removing("a"))
    val shown = rows(t, "entries").map { r =>
      val MetadataRow(values) = r("data_file")
      (values(1).toString.split('/').last, r("status"), r("snapshot_id"), r("sequence_number"))
    }
    assert(shown == Vector(
      ("a.parquet", 2, Some(3L), Some(1L)),
      ("b.parquet", 0, Some(1L), Some(1L)),
      ("c.parquet", 1, Some(2L), Some(2L))
    ))
  }

  test(
    "the metadata table manifests shows counts by content, and partition summaries as readable text",
    ManifestsOnly
  ) {
    val t = evolved(FormatVersion.V2)
    t.append(positionDeletes("p", partition = day(1)))
    val found = rows(t, "manifests")
    assert(found.map(r => (r("content"), r("added_data_files_count"), r("added_delete_files_count"))) ==
      Vector((1, 0, 1), (0, 1, 0), (0, 2, 0)))
    assert(found.last("partition_summaries") ==
      Vector(MetadataRow.of(false, Some(false), Some("1970-01-02"), Some("1970-01-03"))))
    assert(rows(t, "all_manifests").map(_("reference_snapshot_id")) == Vector(1L, 2L, 2L, 3L, 3L, 3L))
  }

  test("counts and NaN flags that the manifest list omits are read from the manifest", ManifestsOnly) {
    val byWeight = PartitionSpec(0, Vector(PartitionField(7, 1000, "weight", Identity)))
    val withWeight = schema.copy(fields = schema.fields :+ NestedField.optional(7, "weight", DoubleType))
    val t = new TestTable(withWeight, Vector(byWeight))
    def inPartition(weight: Double): PartitionTuple = PartitionTuple(Vector(Some(DoubleLiteral(weight))))
    t.append(file("a", inPartition(1)), file("b", inPartition(2)))
    t.append(file("c", inPartition(Double.NaN)))
    val tree = new TreeReader(t.table.io, t.metadata)
    val values = new ManifestValues(t.metadata, tree.files(t.metadata.currentSnapshot.get))
    val found = tree.manifests(t.metadata.currentSnapshot.get).map { m =>
      val sparse = m.copy(
        addedFilesCount = None,
        existingFilesCount = None,
        deletedFilesCount = None,
        partitions = m.partitions.map(_.map(_.copy(containsNan = None)))
      )
      assert(values.ofSnapshot(sparse.copy(partitions = m.partitions)) == values.ofSnapshot(m))
      val Some(Vector(summary: MetadataRow)) = values.ofAllManifests(sparse).last
      (values.ofSnapshot(sparse)(5), summary.values(1))
    }
    assert(found == Vector((1, true), (2, false)))
  }

  test("omitted NaN flags are false without reading the manifest if the partition field has no NaN", ManifestsOnly) {
    val t = new TestTable(schema, Vector(byDay))
    t.append(file("a", day(1)))
    val tree = new TreeReader(t.table.io, t.metadata)
    val values = new ManifestValues(t.metadata, tree.files(t.metadata.currentSnapshot.get))
    val Vector(m) = tree.manifests(t.metadata.currentSnapshot.get)
    t.io.delete(m.path)
    val Some(Vector(summary: MetadataRow)) =
      values.ofAllManifests(m.copy(partitions = m.partitions.map(_.map(_.copy(containsNan = None))))).last
    assert(summary.values(1) == false)
  }

  test("the metadata table partitions aggregates the live files of each partition") {
    val t = evolved(FormatVersion.V2)
    t.append(file("d", day(1), records = 7, size = 30), positionDeletes("p", partition = day(1)))
    t.upgrade()
    val found = rows(t, "partitions").map(r => r("partition") -> r).toMap
    assert(found.keySet ==
      Set(MetadataRow.of(Some(1), Some(3)), MetadataRow.of(Some(1), None), MetadataRow.of(Some(2), None)))
    val one = found(MetadataRow.of(Some(1), None))
    assert((one("record_count"), one("file_count"), one("total_data_file_size_in_bytes")) == ((17L, 2, 1030L)))
    assert((one("position_delete_record_count"), one("position_delete_file_count")) == ((10L, 1)))
    assert((one("spec_id"), one("last_updated_snapshot_id")) == ((0, Some(3L))))
    assert(found(MetadataRow.of(Some(1), Some(3)))("last_updated_at") == Some(2000000L))
  }

  test("the metadata table partitions of an unpartitioned table has one row, without a partition column") {
    val t = new TestTable(schema)
    assert(rows(t, "partitions").isEmpty)
    t.append(file("a"), file("b"))
    val found = rows(t, "partitions")
    assert(found.map(_("file_count")) == Vector(2))
    assert(!found.head.contains("partition") && !found.head.contains("spec_id"))
  }

  test(
    "a partition field that a version 1 table has dropped keeps its type in the partition column",
    PartitionRules.droppedSource
  ) {
    val dropped = PartitionSpec(1, Vector(PartitionField(2, 1000, "ts_day", Void)))
    val t = new TestTable(schema, Vector(byDay, dropped), FormatVersion.V1)
    t.append(file("a", day(1)))
    t.append(file("b", PartitionTuple(Vector(None)), specId = 1))
    assert(rows(t, "files").map(_("partition")) == Vector(MetadataRow.of(None), MetadataRow.of(Some(1))))
  }

  test("if two partition fields have the same name, the name of the older field gets its id as suffix") {
    val other = PartitionSpec(1, Vector(PartitionField(1, 1001, "ts_day", Identity)))
    val t = new TestTable(schema, Vector(byDay, other))
    assert(new PartitionStruct(t.metadata).structType.fields.map(_.name) == Vector("ts_day_1000", "ts_day"))
  }

  test("the error for a partition field id that two partition specs use for different fields contains the id") {
    val other = PartitionSpec(1, Vector(PartitionField(1, 1000, "id", Identity)))
    val t = new TestTable(schema, Vector(byDay, other), FormatVersion.V1)
    val e = intercept[Unsupported](MetadataTables.find("files").get.schema(t.table))
    assert(e.getMessage.contains("1000") && e.getMessage.contains("ts_day"))
    assert(rows(t, "manifests").isEmpty)
  }
}
