package iceberglite.tree.root

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.TestMetadata._
import iceberglite.spec.file.{ContentFile, MetricMaps}
import iceberglite.spec.partition._
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType, SingleValue}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type.{IntType, LongType}
import iceberglite.tree.{FileChanges, TestTable}
import iceberglite.tree.manifestlist.ManifestSamples

/** Tests that merges of small leaves converge: many commits neither leave many leaves nor rewrite them repeatedly. */
class LeafMergesSuite extends AnyFunSuite {
  private val limits = RootLimits(maxInlineFiles = 1, mergeCount = 2)

  private def leaves(table: RootTable): Vector[ContentEntry] = table.root.filter(_.manifest.isDefined)

  /** Commits 32 new leaves of two files each. Returns for each commit how many other leaves it wrote. */
  private def commitLeaves(table: RootTable)(fileOf: (Int, String) => ContentFile): Vector[Int] = {
    val written = (1 to 32).toVector.map { i =>
      val root = table.write(FileChanges(Vector("a", "b").map(name => fileOf(i, s"$name$i"))))
      table.testTable.adopt(root)
      root.written.size - 2
    }
    table.check()
    written
  }

  private def partitions(table: RootTable): Map[Option[Literal], Int] =
    table.live.groupBy(_.file.partition.values.head).map { case (value, files) => value -> files.size }

  test("leaves whose partition values have different types are merged by type") {
    val field = PartitionField(1, 1000, "quarter", UnknownTransform("quarter"))
    val table = new RootTable(ManifestSamples.schema, Vector(PartitionSpec(0, Vector(field))), limits)
    val (number, text) = (Some(IntLiteral(7)), Some(StringLiteral("2026Q1")))
    val written = commitLeaves(table) { (i, name) =>
      TestTable.file(name, PartitionTuple(Vector(if (i % 2 == 0) number else text)))
    }
    val sizes = leaves(table).map(_.recordCount)
    // There is a leaf for each type and power of two, and a few that the last commits have not merged yet.
    assert(sizes.sum == 64 && sizes.size <= 12 && sizes.max >= 16)
    assert(written.forall(_ <= 4) && written.sum <= 32, "a merge reduces the number of leaves")
    assert(partitions(table) == Map(number -> 32, text -> 32))
  }

  test("leaves with values of a column before and after its promotion are merged") {
    def schema(id: Int, t: PrimitiveType) = Schema(id, Vector(NestedField.optional(1, "id", t)))
    val byId = PartitionSpec(0, Vector(PartitionField(1, 1000, "id", Identity)))
    val table = new RootTable(schema(0, IntType), Vector(byId), limits)
    val written = commitLeaves(table) { (i, name) =>
      if (i == 17) table.testTable.metadata = table.testTable.metadata
        .edited(schemas = Vector(schema(0, IntType), schema(1, LongType)), currentSchemaId = 1)
      val value = if (i < 17) IntLiteral(7) else LongLiteral(7L)
      val bounds = Some(Map(1 -> SingleValue.encode(value)))
      TestTable.file(name, PartitionTuple(Vector(Some(value))))
        .copy(metrics = MetricMaps(lowerBounds = bounds, upperBounds = bounds))
    }
    assert(leaves(table).map(_.recordCount).sum == 64 && leaves(table).size <= 7)
    assert(written.forall(_ <= 4) && written.sum <= 32)
    assert(partitions(table) == Map(Some(LongLiteral(7L)) -> 64))
  }

  test("large leaves do not prevent merges of small leaves with the same number of entries") {
    val random = new Random(3)
    // The long names do not compress well.
    def history(maxMergeBytes: Long): RootTable = {
      val table = new RootTable(ManifestSamples.schema, limits = limits.copy(maxMergeBytes = maxMergeBytes))
      Seq(10, 10, 2000, 2000).foreach(length =>
        table.append(Vector.fill(2)(random.alphanumeric.take(length).mkString): _*)
      )
      table
    }
    val sizes = leaves(history(maxMergeBytes = 1L)).flatMap(_.fileSizeInBytes).sorted
    assert(sizes.size == 4)
    val table = history(maxMergeBytes = sizes.take(2).sum + 200)
    table.append("x")
    assert(leaves(table).map(_.recordCount).sorted == Vector(2L, 2L, 4L))
  }
}
