package iceberglite.tree.root

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.scan.TableScan
import iceberglite.spec.FormatVersion.V4
import iceberglite.spec.TestMetadata.Edits
import iceberglite.spec.expr.Expression.{And, Equal, GreaterThanOrEqual, LessThan}
import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.file.{ContentFile, MetricMaps}
import iceberglite.spec.partition._
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Literal.LongLiteral
import iceberglite.spec.types.{NestedField, SingleValue}
import iceberglite.spec.types.Type.LongType
import iceberglite.tree.{FileChanges, ManifestCache, TestTable}
import iceberglite.tree.TestTable.nameOf

/** Tests the order of the files that a commit adds in several leaves, and how many leaves scans read because of it. */
class AddedFileOrderSuite extends AnyFunSuite {
  private val schema =
    Schema(0, Vector("p", "x", "k").zipWithIndex.map { case (name, i) => NestedField.required(i + 1, name, LongType) })
  private val byP = PartitionSpec(0, Vector(PartitionField(1, 1000, "p", Identity)))
  private val files = 240
  private val partitions = 8

  /** A table with at least eight leaves if all files are appended by one commit. */
  private def newTable(spec: PartitionSpec = PartitionSpec.Unpartitioned): TestTable = new TestTable(
    schema,
    Vector(spec),
    version = V4,
    properties = Map("commit.manifest.target-size-bytes" -> "450", "commit.manifest-merge.enabled" -> "false"),
    cache = ManifestCache.Disabled
  )

  /** A file with its bounds by column id. */
  private def file(i: Int, partition: PartitionTuple, bounds: (Int, (Long, Long))*): ContentFile =
    TestTable.file(
      f"f$i%03d",
      partition,
      metrics =
        MetricMaps(
          valueCounts = Some(bounds.map(_._1 -> 10L).toMap),
          nullValueCounts = Some(bounds.map(_._1 -> 0L).toMap),
          lowerBounds = Some(bounds.map { case (id, (low, _)) => id -> SingleValue.encode(LongLiteral(low)) }.toMap),
          upperBounds = Some(bounds.map { case (id, (_, high)) => id -> SingleValue.encode(LongLiteral(high)) }.toMap)
        )
    )

  /** A file of which the column x has any values, and the column k the values from 10 * i to 10 * i + 9. */
  private def clustered(i: Int, partition: PartitionTuple = PartitionTuple.Empty): ContentFile =
    file(i, partition, 2 -> ((i % 7).toLong -> 1000000L), 3 -> (10L * i -> (10L * i + 9)))

  private def partition(p: Int): PartitionTuple = PartitionTuple(Vector(Some(LongLiteral(p.toLong))))

  private def names(t: TestTable): Vector[String] = t.live.map(e => nameOf(e.file))

  private def leaves(t: TestTable): Int = t.files.fold(0)(_.parts.count { case _: LeafPart => true; case _ => false })

  /** Returns the number of the manifests that a scan reads, and of the files that it finds. */
  private def scan(t: TestTable, filter: Expression): (Int, Long) = {
    val report = TableScan(t.tree, t.metadata.currentSnapshot, filter, true, ManifestCache.Disabled).plan().report
    (report.readManifests, report.resultFiles)
  }

  private def between(column: String, from: Long, until: Long): Expression =
    And(
      GreaterThanOrEqual(Term.Named(column), LongLiteral(from)),
      LessThan(Term.Named(column), LongLiteral(until))
    )

  test("the files of large commits are sorted by partition and then by a column, so that scans read few leaves") {
    val t = newTable(byP)
    val shuffled = new Random(3).shuffle((0 until files).toVector)
    t.append(shuffled.map(i => clustered(i, partition(i % partitions))): _*)
    assert(leaves(t) >= partitions)
    (0 until partitions).foreach { p =>
      val (read, found) = scan(t, Equal(Term.Named("p"), LongLiteral(p.toLong)))
      assert(read <= 3 && found == files / partitions)
    }
    val unpartitioned = newTable()
    unpartitioned.append(shuffled.map(clustered(_)): _*)
    assert(leaves(unpartitioned) >= 8 && names(unpartitioned) == names(unpartitioned).sorted)
    assert(scan(unpartitioned, between("k", 1000L, 1010L)) == ((1, 1L)))
  }

  test("if no column divides the files, or if one leaf can list them, they keep their order") {
    def overlapping(i: Int) = file(i, PartitionTuple.Empty, 2 -> ((files - i).toLong -> 1000L), 3 -> (0L -> i.toLong))
    val t = newTable()
    t.append((0 until files).map(overlapping): _*)
    assert(leaves(t) >= 8 && names(t) == names(t).sorted)
    val small = newTable(byP)
    val added = Seq(5, 3, 4)
    small.append(added.map(i => clustered(i, partition(10 - i))): _*)
    assert(leaves(small) == 0 && names(small) == Vector("f005", "f003", "f004"))
    val single = newTable()
    single.metadata = single.metadata.edited(properties = Map("write.v4.single-commit-max-files" -> "1"))
    single.append((0 until 20).map(i => clustered(19 - i)): _*)
    assert(leaves(single) == 1 && names(single) == names(single).sorted.reverse)
  }

  private def sortedBy(column: Int): TestTable = {
    val order = SortOrder(1, Vector(SortField(Vector(column), Identity, SortDirection.Ascending, NullOrder.NullsFirst)))
    val t = newTable()
    t.metadata = t.metadata.edited(sortOrders = Vector(order), defaultSortOrderId = 1)
    t
  }

  test("the files are sorted by a column of the sort order if it divides them, and otherwise by another column") {
    def both(i: Int) = file(i, PartitionTuple.Empty, 2 -> (-2L * i -> (-2L * i + 1)), 3 -> (10L * i -> (10L * i + 9)))
    val shuffled = new Random(5).shuffle((0 until files).toVector)
    val ascending = (0 until files).map(i => f"f$i%03d")
    val byX = sortedBy(2)
    byX.append(shuffled.map(both): _*)
    assert(names(byX) == ascending.reverse)
    val byK = sortedBy(3)
    byK.append(shuffled.map(both): _*)
    assert(names(byK) == ascending)
    val unclustered = sortedBy(2)
    unclustered.append(shuffled.map(clustered(_)): _*)
    assert(names(unclustered) == ascending, "each file has almost all values of the column of the sort order")
  }

  test("row ids follow the order in which the sorted files are listed") {
    val t = newTable()
    t.append(new Random(6).shuffle((0 until files).toVector).map(clustered(_)): _*)
    val ids = t.live.map(_.file.firstRowId.get)
    assert(ids == ids.indices.map(i => ids.head + i * t.live.head.file.recordCount))
  }

  test("a retry reuses the sorted leaves of an earlier attempt") {
    val t = newTable()
    val changes = FileChanges(new Random(4).shuffle((0 until files).toVector).map(clustered(_)))
    val lost = t.write(t.header(), changes)
    val retry = t.write(t.header(attempt = 1), changes, Some(lost))
    assert(lost.written.size > 8 && retry.written == Vector(retry.pointer))
  }
}
