package iceberglite.scan

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion
import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.expr.Expression.{AlwaysTrue, Equal}
import iceberglite.spec.file.FileFormat
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Literal.{IntLiteral, StringLiteral}
import iceberglite.spec.types.Type.{IntType, StringType}
import iceberglite.tree.{DefaultVersion, ManifestCache, ManifestsOnly, TestTable}
import iceberglite.tree.TestTable._

/** Tests scan plans for a limited number of rows, which stop when the planned files have enough rows. */
class LimitedPlanSuite extends AnyFunSuite {
  private val schema =
    Schema(0, Vector(NestedField.required(1, "id", IntType), NestedField.optional(2, "category", StringType)))

  /** Creates a table with one manifest per commit, each with one file of ten rows. */
  private def tableOf(commits: Int, version: FormatVersion = DefaultVersion.version): TestTable = {
    val t = new TestTable(schema, version = version, properties = Map("commit.manifest-merge.enabled" -> "false"))
    (0 until commits).foreach(i => t.append(file(s"f$i")))
    t
  }

  private def scan(t: TestTable, filter: Expression = AlwaysTrue): TableScan =
    TableScan(t.table.tree(schema), t.metadata.currentSnapshot, filter, caseSensitive = true, ManifestCache.Disabled)

  private def names(plan: ScanPlan): Vector[String] = plan.tasks.map(t => nameOf(t.file))

  test(
    "a plan for a few rows reads only one of many manifests, and contains no more files than needed",
    ManifestsOnly
  ) {
    val t = tableOf(40)
    val reads = t.io.reads.get
    val plan = scan(t).plan(Some(7))
    assert(names(plan) == Vector("f39"))
    assert(t.io.reads.get == reads + 2, "only the manifest list and one manifest must be read")
    assert(plan.report == ScanReport("lite.db.t", Some(40), 40, 39, Some(40), 0, 1, 10, 1000))
  }

  test(
    "a plan for more rows reads more manifests in parallel, and stops at the file that reaches the row limit",
    ManifestsOnly
  ) {
    val t = tableOf(40)
    val plan = scan(t).plan(Some(81))
    assert(names(plan) == (31 to 39).reverse.map(i => s"f$i").toVector)
    assert(plan.report.readManifests == 16 && plan.report.prunedFiles == 7 && plan.report.skippedFiles.contains(31L))
  }

  test("a plan for more rows than the table has contains all files") {
    val t = tableOf(5)
    assert(names(scan(t).plan(Some(1000))) == names(scan(t).plan()) && names(scan(t).plan(Some(0))).isEmpty)
  }

  test(
    "rows of files with a residual filter, or with deletes of unknown positions, do not count toward the row limit"
  ) {
    val t = tableOf(3, FormatVersion.V2)
    assert(scan(t, Equal(Term.Named("id"), IntLiteral(1))).plan(Some(1)).tasks.size == 3)
    t.append(positionDeletes("p", of = Some("f2")))
    t.upgrade()
    assert(names(scan(t).plan(Some(1))) == Vector("f2", "f1"))
    t.append(equalityDeletes("e"))
    assert(names(scan(t).plan(Some(1))) == Vector("f2", "f1", "f0"))
  }

  test("rows of files whose whole partition matches count toward the row limit, except rows in deletion vectors") {
    val byCategory = PartitionSpec(0, Vector(PartitionField(2, 1000, "category", Identity)))
    val t = new TestTable(schema, Vector(byCategory), FormatVersion.V3)
    def part(name: String) = PartitionTuple(Vector(Some(StringLiteral(name))))
    t.append(file("a1", part("a")), file("a2", part("a")), file("a3", part("a")), file("b1", part("b")))
    val vector = positionDeletes("v", of = Some("a1"), partition = part("a"))
      .copy(format = FileFormat.Puffin, recordCount = 9, contentOffset = Some(4), contentSizeInBytes = Some(40))
    t.append(vector)
    val plan = scan(t, Equal(Term.Named("category"), StringLiteral("a"))).plan(Some(2))
    assert(names(plan) == Vector("a1", "a2") && plan.tasks.map(_.guaranteedRecords) == Vector(1L, 10L))
    assert(plan.report.deleteFiles == 1 && plan.report.liveRecords == 11)
  }
}
