package iceberglite.maintenance

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.TestMetadata._
import iceberglite.catalog.CatalogFixture
import iceberglite.conformance.StatisticsRules
import iceberglite.data.DataFormats
import iceberglite.spec.{FormatVersion, SampleTables}
import iceberglite.spec.IcebergError.{UnreadableFile, ValidationFailed}
import iceberglite.spec.file.{Content, ContentFile, EntryStatus, FileFormat, ManifestEntry, Metrics}
import iceberglite.spec.metadata.{PartitionStatisticsFile, TableMetadata}
import iceberglite.spec.partition.{Bucket, Identity, PartitionField, PartitionSpec, PartitionTuple, Transform, Void}
import iceberglite.spec.types.{Literal, Type}
import iceberglite.spec.types.Literal.{DateLiteral, IntLiteral, StringLiteral}
import iceberglite.table.{Table, TableCreation, TestTables}
import iceberglite.table.action.{FastAppend, SetPartitionStatistics}
import iceberglite.tree.UnifiedPartition

/** Tests computing, writing and reading partition statistics (specification, "Partition Statistics"). */
class PartitionStatisticsSuite extends AnyFunSuite {
  private def field(sourceId: Int, id: Int, name: String, transform: Transform): PartitionField =
    PartitionField(sourceId, id, name, transform)

  private val byDay = field(3, 1000, "day", Identity)
  private val byBucket = field(1, 1001, "id_bucket", Bucket(16))
  private val byAmount = field(4, 1002, "amount", Identity)

  private def table(version: FormatVersion, specs: Vector[PartitionField]*): TableMetadata =
    SampleTables.withHistory(version).edited(specs = specs.toVector.zipWithIndex.map { case (fields, id) =>
      PartitionSpec(id, fields)
    })

  private val evolved = table(FormatVersion.V3, Vector(byDay), Vector(byDay, byBucket))

  private def tuple(values: Option[Literal]*): PartitionTuple = PartitionTuple(values.toVector)

  private def entry(
      specId: Int,
      partition: PartitionTuple,
      records: Long,
      content: Content = Content.Data,
      format: FileFormat = FileFormat.Parquet,
      snapshotId: Long = 1,
      status: EntryStatus = EntryStatus.Added
  ): ManifestEntry = {
    val file = ContentFile(content, "f", format, specId, partition, records, records * 100, Metrics.Empty)
    ManifestEntry(status, Some(snapshotId), Some(1L), Some(1L), file)
  }

  private def computeRows(metadata: TableMetadata, entries: ManifestEntry*): Vector[PartitionStatistics] = {
    def sums = new PartitionStatistics.Sums(new UnifiedPartition(metadata), metadata.snapshotsById.get)
    val (firstHalf, secondHalf) = entries.splitAt(entries.size / 2)
    (firstHalf.foldLeft(sums)(_ += _) ++= secondHalf.foldLeft(sums)(_ += _)).result()
  }

  private val day1 = tuple(Some(DateLiteral(1)))

  test(
    "a row counts the live files of a partition, and deletion vectors separately from position delete files",
    StatisticsRules.partitionFileCounts
  ) {
    val rows = computeRows(
      evolved,
      entry(0, day1, 10),
      entry(0, day1, 5, status = EntryStatus.Existing),
      entry(0, day1, 100, status = EntryStatus.Deleted),
      entry(0, day1, 2, Content.PositionDeletes),
      entry(0, day1, 3, Content.PositionDeletes, FileFormat.Puffin),
      entry(0, day1, 4, Content.PositionDeletes, FileFormat.Puffin),
      entry(0, day1, 7, Content.EqualityDeletes)
    )
    val row = rows.head
    assert(rows.size == 1 && row.dataRecordCount == 15 && row.dataFileCount == 2)
    assert(row.totalDataFileSizeInBytes == 1500)
    assert(row.positionDeleteRecordCount.contains(9L) && row.positionDeleteFileCount.contains(1) && row.dvCount == 2)
    assert(row.equalityDeleteRecordCount.contains(7L) && row.equalityDeleteFileCount.contains(1))
    assert(row.totalRecordCount.isEmpty)
  }

  test(
    "last_updated_snapshot_id is the newest existing snapshot that added or removed a file of the partition",
    StatisticsRules.partitionFileCounts
  ) {
    val second = evolved.snapshot(2L)
    val rows = computeRows(
      evolved,
      entry(0, day1, 1, snapshotId = 1),
      entry(0, day1, 1, snapshotId = 2, status = EntryStatus.Deleted),
      entry(0, day1, 1, snapshotId = 77),
      entry(0, tuple(Some(DateLiteral(2))), 1, snapshotId = 77)
    )
    assert(rows.map(_.lastUpdatedSnapshotId) == Vector(Some(2L), None))
    assert(rows.map(_.lastUpdatedAt) == Vector(Some(second.timestampMs), None), "snapshot 77 has expired")
  }

  test(
    "each partition spec has its own rows with the unified partition type, sorted ascending with nulls first",
    StatisticsRules.partitionFileOrder,
    StatisticsRules.unifiedPartition
  ) {
    def both(day: Option[Int], bucket: Option[Int]) = tuple(day.map(DateLiteral), bucket.map(IntLiteral))
    val rows = computeRows(
      evolved,
      entry(1, both(Some(1), Some(3)), 1),
      entry(0, tuple(Some(DateLiteral(2))), 2),
      entry(1, both(Some(1), None), 3),
      entry(0, day1, 4),
      entry(1, both(None, Some(5)), 5),
      entry(0, tuple(None), 6),
      entry(1, both(Some(-7), Some(5)), 7)
    )
    def row(specId: Int, day: Option[Int], bucket: Option[Int]) = (specId, both(day, bucket).values)
    assert(rows.map(r => (r.specId, r.partition)) == Vector(
      row(0, None, None),
      row(1, None, Some(5)),
      row(1, Some(-7), Some(5)),
      row(0, Some(1), None),
      row(1, Some(1), None),
      row(1, Some(1), Some(3)),
      row(0, Some(2), None)
    ))
    assert(rows.map(_.dataRecordCount) == Vector(6, 5, 7, 4, 3, 1, 2))
  }

  test(
    "section Partition Statistics File: the unified partition types of the two examples are computed",
    StatisticsRules.unifiedPartition
  ) {
    def ids(specs: Vector[PartitionField]*): Vector[Int] =
      new UnifiedPartition(table(FormatVersion.V2, specs: _*)).structType.fields.map(_.id)
    assert(ids(Vector(byDay, byBucket), Vector(byDay, byBucket, byAmount)) == Vector(1000, 1001, 1002))
    assert(ids(Vector(byDay, byBucket), Vector(byBucket)) == Vector(1000, 1001))
    assert(ids(Vector(byBucket, byDay)) == Vector(1000, 1001), "field ids are ascending, independent of the spec")
    val dropped = Vector(byDay.copy(transform = Void), byBucket)
    val type1 = new UnifiedPartition(table(FormatVersion.V1, Vector(byDay, byBucket), dropped)).structType
    assert(type1.fields.map(_.fieldType) == Vector(Type.DateType, Type.IntType))
  }

  test(
    "section Partition Statistics File: a file has the columns of its format version",
    StatisticsRules.partitionFileColumns
  ) {
    val unified = new UnifiedPartition(evolved).structType
    def asText(version: FormatVersion): Vector[String] =
      PartitionStatisticsColumns.schema(unified, version).fields.map(_.copy(doc = None).toString)
    val old = Vector(
      s"1: partition: required $unified",
      "2: spec_id: required int",
      "3: data_record_count: required long",
      "4: data_file_count: required int",
      "5: total_data_file_size_in_bytes: required long",
      "6: position_delete_record_count: optional long",
      "7: position_delete_file_count: optional int",
      "8: equality_delete_record_count: optional long",
      "9: equality_delete_file_count: optional int",
      "10: total_record_count: optional long",
      "11: last_updated_at: optional long",
      "12: last_updated_snapshot_id: optional long"
    )
    assert(asText(FormatVersion.V1) == old && asText(FormatVersion.V2) == old)
    val expected = (old.take(5) ++ old.slice(5, 9).map(_.replace("optional", "required")) ++ old.drop(9)) :+
      "13: dv_count: required int"
    assert(asText(FormatVersion.V3) == expected)
  }

  private def withTable(creation: TableCreation)(body: Table => Unit): Unit = CatalogFixture.Hadoop.withStore { store =>
    body(CatalogFixture.Hadoop.open(store, store.files).create(CatalogFixture.Id, creation))
  }

  private val unique = new UUID(0, 7)

  for (format <- DataFormats.all; version <- FormatVersion.all)
    test(
      s"the rows of a ${format.format.name} file of a version $version table are read as they were written",
      StatisticsRules.partitionFileFormat
    ) {
      val properties = Seq("write.format.default" -> format.format.name, "format-version" -> version.toString)
      withTable(TestTables.byCategory(properties: _*)) { empty =>
        val files = Vector(
          TestTables.fileOf("b", "b1", records = 3),
          TestTables.fileOf("a", "a1"),
          TestTables.fileOf("", "e1"),
          TestTables.fileOf("a", "a2", records = 5),
          TestTables.fileOf("a", "n1").copy(partition = tuple(None))
        )
        val table = empty.transaction(Map.empty, TestTables.environment).add(new FastAppend(files)).commit()
        val snapshot = table.currentSnapshot.get
        val file = PartitionStatisticsFiles.write(table.io, table.metadata, snapshot, unique).get
        assert(
          file.snapshotId == snapshot.snapshotId && table.io.read(file.statisticsPath).length == file.fileSizeInBytes
        )
        val rows = PartitionStatisticsFiles.read(table.io, table.metadata, file)
        assert(rows == PartitionStatisticsFiles.compute(table.io, table.metadata, snapshot))
        assert(rows.map(_.partition.head) == Vector(None, Some(""), Some("a"), Some("b")).map(_.map(StringLiteral)))
        assert(rows.map(_.dataRecordCount) == Vector(10, 10, 15, 3))
        assert(rows.forall(_.lastUpdatedSnapshotId.contains(snapshot.snapshotId)))
      }
    }

  test("partition statistics of an unpartitioned table are rejected, and a snapshot without files has none") {
    withTable(TestTables.unpartitioned()) { empty =>
      val table = empty.transaction(Map.empty, TestTables.environment)
        .add(new FastAppend(Vector(TestTables.file("f")))).commit()
      intercept[ValidationFailed] {
        PartitionStatisticsFiles.write(table.io, table.metadata, table.currentSnapshot.get, unique)
      }
    }
    withTable(TestTables.byCategory()) { empty =>
      val table = empty.transaction(Map.empty, TestTables.environment).add(new FastAppend(Vector.empty)).commit()
      assert(PartitionStatisticsFiles.write(table.io, table.metadata, table.currentSnapshot.get, unique).isEmpty)
    }
  }

  test("a file name without a known extension is rejected, and the error for a damaged file contains its path") {
    withTable(TestTables.byCategory()) { table =>
      def read(name: String) = intercept[UnreadableFile] {
        PartitionStatisticsFiles.read(
          table.io,
          table.metadata,
          PartitionStatisticsFile(1L, s"${table.location}/$name", 9)
        )
      }
      assert(read("stats.csv").reason.contains("does not end with .parquet"))
      table.io.write(s"${table.location}/s.parquet", "PAR1 PAR1".getBytes)
      assert(read("s.parquet").file.endsWith("s.parquet"))
    }
  }

  test(
    "a written partition statistics file is not yet registered; its registration replaces the snapshot's previous file",
    StatisticsRules.onePartitionFileOfASnapshot
  ) {
    withTable(TestTables.byCategory()) { empty =>
      def commit(table: Table, action: iceberglite.table.Action): Table =
        table.transaction(Map.empty, TestTables.environment).add(action).commit()
      val table = commit(empty, new FastAppend(Vector(TestTables.fileOf("a", "a1"))))
      val snapshot = table.currentSnapshot.get
      val first = PartitionStatisticsFiles.write(table.io, table.metadata, snapshot, unique).get
      assert(table.metadata.partitionStatistics.isEmpty)
      val one = commit(table, new SetPartitionStatistics(first))
      val second = PartitionStatisticsFiles.write(one.io, one.metadata, snapshot, new UUID(0, 8)).get
      val two = commit(one, new SetPartitionStatistics(second))
      assert(one.metadata.partitionStatistics == Vector(first) && two.metadata.partitionStatistics == Vector(second))
    }
  }
}
