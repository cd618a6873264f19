package iceberglite.inspect

import java.util.UUID

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Fuzz
import iceberglite.maintenance.{PartitionStatistics, PartitionStatisticsFiles}
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.TestMetadata._
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.metadata.PartitionStatisticsFile
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Literal.{DoubleLiteral, IntLiteral, StringLiteral}
import iceberglite.spec.types.Type._
import iceberglite.tree.{ManifestsOnly, TestTable}
import iceberglite.tree.TestTable._

/** Tests the metadata table `partitions`. If several tasks compute its rows, each task gets a group of manifests. */
class PartitionsTableSuite extends AnyFunSuite {
  private val schema = Schema(
    0,
    Vector(
      NestedField.optional(1, "n", IntType),
      NestedField.optional(2, "s", StringType),
      NestedField.optional(3, "d", DoubleType)
    )
  )
  private val byNumber = PartitionSpec(0, Vector(PartitionField(1, 1000, "n", Identity)))
  private val byAll = PartitionSpec(
    1,
    Vector(
      PartitionField(1, 1000, "n", Identity),
      PartitionField(2, 1001, "s", Identity),
      PartitionField(3, 1002, "d", Identity)
    )
  )

  private val unmerged = Map("commit.manifest-merge.enabled" -> "false")

  private def number(n: Int): PartitionTuple = PartitionTuple(Vector(Some(IntLiteral(n))))

  private def requestFor(columns: Seq[String]): RowRequest = RowRequest(columns.toVector, AlwaysTrue)

  private def groups(t: TestTable, columns: Seq[String]): Vector[MetadataRows] =
    PartitionsTable.groups(t.table, t.metadata.currentSnapshot, requestFor(columns)).get

  private def withoutUpdates(t: TestTable): Seq[String] =
    PartitionsTable.schema(t.table).fields.map(_.name).filterNot(_.startsWith("last_updated"))

  private def rows(groups: Vector[MetadataRows]): Vector[MetadataRow] = groups.flatMap(_.rows().toVector)

  /** Returns the rows of the table `partitions` if one task sums the files of all manifests. */
  private def asOneGroup(t: TestTable, columns: Seq[String], maxPartitions: Int = 1000): Vector[MetadataRow] = {
    val times = t.metadata.snapshots.map(s => s.snapshotId -> s.timestampMs).toMap
    val partition = new PartitionStruct(t.metadata)
    val all = PartitionsTable.schema(t.table)
    val (parts, limit) = (t.files.get.parts, () => maxPartitions)
    new PartitionRows(parts, t.io, partition, all, requestFor(columns), times, None, limit).rows().toVector
  }

  test("manifests whose partitions do not overlap are summed by different tasks", ManifestsOnly) {
    val t = new TestTable(schema, Vector(byNumber, byAll), properties = unmerged)
    t.append(file("a", number(1)), file("b", number(3)))
    t.append(file("c", number(2)))
    t.append(file("d", number(4)), positionDeletes("e", partition = number(5)))
    t.append(file("f", PartitionTuple(Vector(Some(IntLiteral(2)), None, None)), specId = 1))
    val found = groups(t, Seq("partition", "spec_id", "file_count"))
    assert(found.map(_.rows().size).sorted == Vector(1, 1, 1, 3))
    assert(found.forall(_.forReading.rows().nonEmpty))
  }

  test("in random tables, the groups of manifests have the partitions of the table, each partition in one group") {
    val random = new Random(Fuzz.seed)
    var groupCounts = List.empty[Int]
    for (_ <- 1 to Fuzz.rounds(30)) {
      val t = new TestTable(schema, Vector(byNumber, byAll), properties = unmerged)
      def value[A](make: Int => A): Option[A] = if (random.nextInt(8) == 0) None else Some(make(random.nextInt(6)))
      def tuple: PartitionTuple = PartitionTuple(Vector(
        value(IntLiteral(_)),
        value(n => StringLiteral(s"s$n")),
        value(n => DoubleLiteral(if (n == 0) Double.NaN else n.toDouble))
      ))
      for (commit <- 1 to 1 + random.nextInt(8)) {
        val files =
          (1 to 1 + random.nextInt(3)).map(i => file(s"f$commit-$i", tuple, specId = 1, records = i.toLong)) ++
            (1 to random.nextInt(2)).map(i => file(s"g$commit-$i", PartitionTuple(tuple.values.take(1))))
        t.append(files: _*)
      }
      val columns = PartitionsTable.schema(t.table).fields.map(_.name)
      val found = groups(t, columns)
      groupCounts ::= found.size
      val keys = found.flatMap(_.rows().map(_.values.take(2)).toSet.toVector)
      assert(keys.distinct.size == keys.size)
      val expected = asOneGroup(t, columns).map(_.toString).sorted
      assert(rows(found).map(_.toString).sorted == expected)
      for (maxPartitions <- Seq(1, 2, 5))
        assert(asOneGroup(t, columns, maxPartitions).map(_.toString).sorted == expected, maxPartitions)
    }
    assert(groupCounts.exists(_ > 1))
  }

  test("NaN is one partition, and -0.0 differs from 0.0, in manifests and in statistics", ManifestsOnly) {
    val t = new TestTable(schema, Vector(PartitionSpec(0, Vector(PartitionField(3, 1000, "d", Identity)))))
    val values = Seq(Double.NaN, Double.NaN, 0.0, -0.0, 0.0)
    t.append(values.zipWithIndex.map { case (value, i) =>
      file(s"f$i", PartitionTuple(Vector(Some(DoubleLiteral(value)))))
    }: _*)
    val columns = Seq("partition", "file_count")
    def found: Seq[String] = rows(groups(t, columns)).map(_.toString).sorted
    val fromManifests = found
    assert(fromManifests.size == 3 && asOneGroup(t, columns).size == 3)
    addStatistics(t)
    t.files.get.parts.foreach(part => t.io.delete(part.path))
    assert(rows(groups(t, columns).map(_.forReading)).map(_.toString).sorted == fromManifests)
  }

  private def addStatistics(t: TestTable): Unit = {
    val statistics =
      PartitionStatisticsFiles.write(t.io, t.metadata, t.metadata.currentSnapshot.get, new UUID(0, 1)).get
    t.metadata = t.metadata.edited(partitionStatistics = Vector(statistics))
  }

  /** Returns a table with partition statistics. */
  private def withStatistics: TestTable = {
    val t = new TestTable(schema, Vector(byNumber), FormatVersion.V2)
    t.append(file("a", number(1), records = 7), file("b", number(2)), positionDeletes("c", partition = number(2)))
    t.upgrade()
    addStatistics(t)
    t
  }

  test(
    "the rows come from the statistics file of the snapshot, unless the query needs the last update",
    ManifestsOnly
  ) {
    val t = withStatistics
    val columns = withoutUpdates(t)
    val expected = asOneGroup(t, columns)
    assert(expected.size == 2)
    val found = groups(t, columns)
    t.files.get.parts.foreach(part => t.io.delete(part.path))
    assert(rows(found).map(_.toString).sorted == expected.map(_.toString).sorted)
    assert(rows(found.map(_.forReading)) == rows(found))
    def inTasks(columns: Seq[String]): Vector[MetadataRow] = rows(groups(t, columns).map(_.forReading))
    assert(inTasks(columns).size == 2)
    intercept[UnreadableFile](inTasks(columns :+ "last_updated_at"))
    t.metadata = t.metadata.edited(partitionStatistics = t.metadata.partitionStatistics.map(_.copy(snapshotId = 99)))
    intercept[UnreadableFile](inTasks(columns))
  }

  test("a small statistics file that contradicts the snapshot is found when the query is planned") {
    val t = withStatistics
    val columns = withoutUpdates(t)
    val snapshot = t.metadata.currentSnapshot.get
    val rows = PartitionStatisticsFiles.compute(t.io, t.metadata, snapshot)
    val totals = Map(
      "total-data-files" -> rows.map(_.dataFileCount).sum.toString,
      "total-records" -> rows.map(_.dataRecordCount).sum.toString
    )
    val original = t.metadata.edited(snapshots = Vector(snapshot.copy(summary = snapshot.summary ++ totals)))
    t.metadata = original
    val expected = asOneGroup(t, columns).map(_.toString).sorted
    assert(groups(t, columns).map(_.getClass) == Vector(classOf[PartitionStatisticsRows]))
    val none = rows.head.copy(dataRecordCount = 0, dataFileCount = 0, totalDataFileSizeInBytes = 0)
    def partition(n: Int) = Vector(Some(IntLiteral(n)))
    def found(changed: Vector[PartitionStatistics], id: Long): Vector[MetadataRows] = {
      val changedFile = PartitionStatisticsFiles.write(t.io, original, snapshot.snapshotId, new UUID(1, id), changed)
      t.metadata = original.edited(partitionStatistics = Vector(changedFile))
      groups(t, columns)
    }
    val empty = (10 to 30).map(n => none.copy(partition = partition(n)))
    assert(found(rows ++ empty, 0).map(_.getClass) == Vector(classOf[PartitionStatisticsRows]))
    val many = (10 to 12).map(n => none.copy(partition = partition(n), totalDataFileSizeInBytes = 1))
    Seq(
      rows.map(r => r.copy(dataRecordCount = r.dataRecordCount + 1)),
      rows.map(r => r.copy(dataFileCount = r.dataFileCount + 1)),
      rows.drop(1),
      rows ++ many
    ).zipWithIndex.foreach { case (changed, i) =>
      val planned = found(changed, i + 1L)
      assert(planned.forall(_.getClass == classOf[PartitionRows]), i)
      assert(planned.map(_.bytes).sum == t.files.get.parts.map(_.length).sum)
      assert(planned.flatMap(_.rows().toVector).map(_.toString).sorted == expected)
    }
  }

  test("if the statistics file is missing or does not match the table, the rows come from the manifests") {
    val t = withStatistics
    val columns = withoutUpdates(t)
    val expected = asOneGroup(t, columns).map(_.toString).sorted
    val statistics = t.metadata.partitionStatistics.head
    t.metadata = t.metadata.edited(partitionStatistics = Vector(statistics.copy(statisticsPath = "mem:/gone.parquet")))
    assert(rows(groups(t, columns)).map(_.toString).sorted == expected)
    val other = new TestTable(schema, Vector(byNumber, byAll))
    other.append(file("x", PartitionTuple(Vector(Some(IntLiteral(9)), None, None)), specId = 1))
    val foreign: PartitionStatisticsFile =
      PartitionStatisticsFiles.write(other.io, other.metadata, other.metadata.currentSnapshot.get, new UUID(0, 2)).get
    t.io.write(foreign.statisticsPath, other.io.read(foreign.statisticsPath))
    t.metadata = t.metadata.edited(partitionStatistics = Vector(foreign.copy(snapshotId = statistics.snapshotId)))
    assert(rows(groups(t, columns)).map(_.toString).sorted == expected)
  }
}
