package iceberglite.scan

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec._
import iceberglite.spec.IcebergError.{NotFound, Unsupported}
import iceberglite.spec.Literal.{IntLiteral, LongLiteral, StringLiteral}
import iceberglite.spec.Type.{IntType, LongType, StringType}
import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.expr.Expression.{AlwaysTrue, And, Equal, GreaterThan}
import iceberglite.spec.transform.{Bucket, Identity}
import iceberglite.tree.{ManifestCache, TestTable}
import iceberglite.tree.TestTable._

class TableScanSuite extends AnyFunSuite {
  private val schema = Schema(
    0,
    Vector(
      NestedField.required(1, "id", IntType),
      NestedField.optional(2, "category", StringType),
      NestedField.optional(3, "amount", IntType)
    )
  )
  private val byCategory = PartitionSpec(0, Vector(PartitionField(2, 1000, "category", Identity)))

  private def part(category: String): PartitionTuple = PartitionTuple(Vector(Some(StringLiteral(category))))

  private def amounts(low: Int, high: Int): Metrics = MetricMaps(
    valueCounts = Some(Map(3 -> 10L)),
    nullValueCounts = Some(Map(3 -> 0L)),
    lowerBounds = Some(Map(3 -> SingleValue.encode(IntLiteral(low)))),
    upperBounds = Some(Map(3 -> SingleValue.encode(IntLiteral(high))))
  )

  private def is(column: String, value: String): Expression = Equal(Term.Named(column), StringLiteral(value))
  private def above(column: String, value: Int): Expression = GreaterThan(Term.Named(column), IntLiteral(value))

  private def plan(t: TestTable, filter: Expression, caseSensitive: Boolean = true): ScanPlan =
    TableScan(t.table, t.metadata.currentSnapshot, t.metadata.schema, filter, caseSensitive, ManifestCache.Off).plan()

  private def names(plan: ScanPlan): Vector[String] = plan.tasks.map(t => nameOf(t.file))

  private def sample: TestTable = {
    val t = new TestTable(schema, Vector(byCategory))
    t.append(
      file("a1", part("a"), metrics = amounts(0, 9)),
      file("b1", part("b"), metrics = amounts(10, 19)),
      file("a2", part("a"), metrics = amounts(20, 29))
    )
    t.append(file("c1", part("c"), metrics = amounts(0, 99), size = 500))
    t
  }

  test("a scan without a filter takes all files, in the order of manifests and files") {
    val p = plan(sample, AlwaysTrue)
    assert(names(p) == Vector("c1", "a1", "b1", "a2"))
    assert(p.tasks.forall(t => t.residual == AlwaysTrue && t.isWholeFile))
    assert(p.tasks.map(_.dataSequenceNumber) == Vector(2L, 1L, 1L, 1L))
    assert(p.report == ScanReport("lite.db.t", Some(2), 2, 0, Some(4), 0, 4, 40, 3500))
  }

  test("a partition filter skips manifests by their summaries and files by their partitions, and leaves no residual") {
    val t = sample
    val reads = t.io.reads.get
    val p = plan(t, is("category", "a"))
    assert(names(p) == Vector("a1", "a2") && p.tasks.forall(_.residual == AlwaysTrue))
    assert(p.report == ScanReport("lite.db.t", Some(2), 2, 1, Some(4), 1, 2, 20, 2000))
    assert(p.report.skippedFiles.contains(2L) && p.report.readManifests == 1)
    assert(t.io.reads.get == reads + 2, "the list and one manifest")
    assert(p.report.toString == "files 2 of 4, manifests 1 of 2, records 20, bytes 2000")
  }

  test("bounds skip files, and what they cannot decide stays as the residual") {
    val p = plan(sample, And(is("category", "a"), above("amount", 15)))
    assert(names(p) == Vector("a2"))
    assert(p.tasks.head.residual.toString == "amount > 15")
    assert(p.filter.toString == "(category = 'a' AND amount > 15)")
  }

  test("a table without snapshots has no files") {
    val p = plan(new TestTable(schema), AlwaysTrue)
    assert(p.tasks.isEmpty && p.report.snapshotId.isEmpty && p.report.totalFiles.contains(0L))
  }

  test("a filter on a column that is not there names those that are") {
    val e = intercept[NotFound](plan(sample, is("ctegory", "a")))
    assert(e.getMessage.contains("ctegory") && e.getMessage.contains("category"))
    assert(names(plan(sample, is("CATEGORY", "b"), caseSensitive = false)) == Vector("b1"))
  }

  test("files of several specs are each tested by their own") {
    val byId = PartitionSpec(1, Vector(PartitionField(1, 1001, "id_bucket", Bucket(4))))
    val t = new TestTable(schema, Vector(byCategory, byId))
    def bucket(id: Int) = PartitionTuple(Vector(Bucket(4)(IntLiteral(id))))
    t.append(file("a", part("a")), file("b", part("b")))
    t.append((0 to 9).map(i => file(s"id$i", bucket(i), specId = 1)): _*)
    val found = names(plan(t, And(is("category", "a"), Equal(Term.Named("id"), IntLiteral(3)))))
    assert(found.contains("a") && found.contains("id3") && !found.contains("b"))
    assert(found.filter(_.startsWith("id")).forall(n => bucket(n.drop(2).toInt) == bucket(3)))
  }

  test("an old snapshot is planned with the types it had, a new one with the promoted") {
    val byAmount = PartitionSpec(0, Vector(PartitionField(3, 1000, "amount", Identity)))
    val t = new TestTable(schema, Vector(byAmount))
    t.append((1 to 3).map(i => file(s"f$i", PartitionTuple(Vector(Some(IntLiteral(i)))))): _*)
    val old = t.metadata.currentSnapshot
    val promoted = Schema(1, schema.fields.take(2) :+ NestedField.optional(3, "amount", LongType))
    t.metadata = t.metadata.copy(schemas = Vector(schema, promoted), currentSchemaId = 1)
    t.append(file("f4", PartitionTuple(Vector(Some(LongLiteral(1L << 40))))))
    val cache = new ManifestCache(1 << 20)
    (1 to 2).foreach { _ =>
      val now = t.metadata.currentSnapshot
      assert(names(TableScan(t.table, now, promoted, above("amount", 2), caseSensitive = true, cache).plan()) == Vector(
        "f4",
        "f3"
      ))
      assert(names(TableScan(t.table, old, schema, above("amount", 1), caseSensitive = true, cache).plan()) == Vector(
        "f2",
        "f3"
      ))
    }
  }

  test("data that delete files speak of is refused, other data is read") {
    val t = sample
    t.append(positionDeletes("d", partition = part("a")).copy(specId = 0))
    val e = intercept[Unsupported](plan(t, AlwaysTrue))
    assert(e.getMessage.contains("lite.db.t") && e.getMessage.contains("1 of the delete files"))
    intercept[Unsupported](plan(t, is("category", "a")))
    assert(names(plan(t, is("category", "b"))) == Vector("b1"))
    t.append(file("a3", part("a")))
    intercept[Unsupported](plan(t, AlwaysTrue))
  }

  test("deletes touch data that is older than they are, and position deletes their own commit's too") {
    def table(deletes: ContentFile, beside: ContentFile): TestTable = {
      val t = new TestTable(schema, Vector(byCategory, PartitionSpec(1, Vector.empty)))
      t.append(beside, deletes)
      t
    }
    val a = file("a", part("a"))
    intercept[Unsupported](plan(table(positionDeletes("d", partition = part("a")), a), AlwaysTrue))
    intercept[Unsupported](plan(table(positionDeletes("d", Some("a"), part("a")), a), AlwaysTrue))
    assert(names(plan(table(positionDeletes("d", Some("other"), part("a")), a), AlwaysTrue)) == Vector("a"))
    assert(names(plan(table(positionDeletes("d", partition = part("b")), a), AlwaysTrue)) == Vector("a"))
    assert(names(plan(table(equalityDeletes("d", part("a")), a), AlwaysTrue)) == Vector("a"))
    val later = table(equalityDeletes("none", part("z")), a)
    later.append(equalityDeletes("e", part("b")))
    assert(names(plan(later, AlwaysTrue)) == Vector("a"))
    later.append(equalityDeletes("global", specId = 1))
    intercept[Unsupported](plan(later, AlwaysTrue))
  }
}
