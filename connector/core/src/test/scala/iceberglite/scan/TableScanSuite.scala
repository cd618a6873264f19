package iceberglite.scan

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.TestMetadata._
import iceberglite.conformance.ScanRules
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.{InvalidMetadata, NotFound}
import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.expr.Expression.{AlwaysTrue, And, Equal, GreaterThan}
import iceberglite.spec.file.{FileFormat, MetricMaps, Metrics}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.{Bucket, Identity, PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, SingleValue}
import iceberglite.spec.types.Literal.{IntLiteral, LongLiteral, StringLiteral}
import iceberglite.spec.types.Type.{IntType, LongType, StringType}
import iceberglite.tree.{DefaultVersion, ManifestCache, ManifestsOnly, TestTable}
import iceberglite.tree.TestTable._

/** Tests which data files and delete files a scan plan contains. */
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

  private def equalTo(column: String, value: String): Expression = Equal(Term.Named(column), StringLiteral(value))
  private def greaterThan(column: String, value: Int): Expression = GreaterThan(Term.Named(column), IntLiteral(value))

  private def plan(t: TestTable, filter: Expression, caseSensitive: Boolean = true): ScanPlan =
    TableScan(t.table.tree(), t.metadata.currentSnapshot, filter, caseSensitive, ManifestCache.Disabled).plan()

  private def names(plan: ScanPlan): Vector[String] = plan.tasks.map(t => nameOf(t.file))

  private def sample: TestTable = sample(DefaultVersion.version)

  private def sample(version: FormatVersion): TestTable = {
    val t = new TestTable(schema, Vector(byCategory), version)
    t.append(
      file("a1", part("a"), metrics = amounts(0, 9)),
      file("b1", part("b"), metrics = amounts(10, 19)),
      file("a2", part("a"), metrics = amounts(20, 29))
    )
    t.append(file("c1", part("c"), metrics = amounts(0, 99), size = 500))
    t
  }

  test("a scan without a filter returns all files, in the order of manifests and files", ManifestsOnly) {
    val p = plan(sample, AlwaysTrue)
    assert(names(p) == Vector("c1", "a1", "b1", "a2"))
    assert(p.tasks.forall(t => t.residual == AlwaysTrue && t.isWholeFile))
    assert(p.tasks.map(_.dataSequenceNumber) == Vector(2L, 1L, 1L, 1L))
    assert(p.report == ScanReport("lite.db.t", Some(2), 2, 0, Some(4), 0, 4, 40, 3500))
  }

  test(
    "a partition filter skips manifests by summaries and files by partitions, and leaves no residual",
    ManifestsOnly,
    ScanRules.skippedManifests,
    ScanRules.residuals
  ) {
    val t = sample
    val reads = t.io.reads.get
    val p = plan(t, equalTo("category", "a"))
    assert(names(p) == Vector("a1", "a2") && p.tasks.forall(_.residual == AlwaysTrue))
    assert(p.report == ScanReport("lite.db.t", Some(2), 2, 1, Some(4), 1, 2, 20, 2000))
    assert(p.report.skippedFiles.contains(2L) && p.report.readManifests == 1)
    assert(t.io.reads.get == reads + 2, "only the manifest list and one manifest must be read")
    assert(p.report.toString == "files 2 of 4, manifests 1 of 2, records 20, bytes 2000")
  }

  test(
    "files are skipped by their bounds, and predicates that bounds cannot decide stay in the residual",
    ScanRules.fileBounds,
    ScanRules.residuals
  ) {
    val p = plan(sample, And(equalTo("category", "a"), greaterThan("amount", 15)))
    assert(names(p) == Vector("a2"))
    assert(p.tasks.head.residual.toString == "amount > 15")
    assert(p.filter.toString == "(category = 'a' AND amount > 15)")
  }

  test("a table without snapshots has no files") {
    val p = plan(new TestTable(schema), AlwaysTrue)
    assert(p.tasks.isEmpty && p.report.snapshotId.isEmpty && p.report.totalFiles.contains(0L))
  }

  test("the error for a filter on a missing column lists the columns") {
    val e = intercept[NotFound](plan(sample, equalTo("ctegory", "a")))
    assert(e.getMessage.contains("ctegory") && e.getMessage.contains("category"))
    assert(names(plan(sample, equalTo("CATEGORY", "b"), caseSensitive = false)) == Vector("b1"))
  }

  test(
    "each file is tested with the partition spec with which it was written",
    ScanRules.inclusiveProjection
  ) {
    val byId = PartitionSpec(1, Vector(PartitionField(1, 1001, "id_bucket", Bucket(4))))
    val t = new TestTable(schema, Vector(byCategory, byId))
    def bucket(id: Int) = PartitionTuple(Vector(Bucket(4)(IntLiteral(id))))
    t.append(file("a", part("a")), file("b", part("b")))
    t.append((0 to 9).map(i => file(s"id$i", bucket(i), specId = 1)): _*)
    val found = names(plan(t, And(equalTo("category", "a"), Equal(Term.Named("id"), IntLiteral(3)))))
    assert(found.contains("a") && found.contains("id3") && !found.contains("b"))
    assert(found.filter(_.startsWith("id")).forall(n => bucket(n.drop(2).toInt) == bucket(3)))
  }

  test("a scan of an old schema compares values in its types, and a scan of a new schema in the promoted types") {
    val byAmount = PartitionSpec(0, Vector(PartitionField(3, 1000, "amount", Identity)))
    val t = new TestTable(schema, Vector(byAmount))
    t.append((1 to 3).map(i => file(s"f$i", PartitionTuple(Vector(Some(IntLiteral(i)))))): _*)
    val old = t.metadata.currentSnapshot
    val promoted = Schema(1, schema.fields.take(2) :+ NestedField.optional(3, "amount", LongType))
    t.metadata = t.metadata.edited(schemas = Vector(schema, promoted), currentSchemaId = 1)
    t.append(file("f4", PartitionTuple(Vector(Some(LongLiteral(1L << 40))))))
    val cache = new ManifestCache(1 << 20)
    (1 to 2).foreach { _ =>
      def namesAbove(amount: Int, schema: Schema, snapshot: Option[Snapshot]): Vector[String] = {
        val filter = greaterThan("amount", amount)
        names(TableScan(t.table.tree(schema), snapshot, filter, caseSensitive = true, cache).plan()).sorted
      }
      assert(namesAbove(2, promoted, t.metadata.currentSnapshot) == Vector("f3", "f4"))
      assert(namesAbove(1, schema, old) == Vector("f2", "f3"))
    }
  }

  private def deletes(plan: ScanPlan): Map[String, Vector[String]] =
    plan.tasks.map(t => nameOf(t.file) -> t.deletes.map(d => nameOf(d.file))).toMap

  test("tasks have the delete files that apply to them, and the report counts them", ScanRules.positionPartition) {
    val t = sample(FormatVersion.V2)
    t.append(positionDeletes("d", partition = part("a")))
    t.upgrade()
    t.append(file("a3", part("a")))
    val p = plan(t, AlwaysTrue)
    assert(deletes(p) == Map(
      "a1" -> Vector("d"),
      "a2" -> Vector("d"),
      "a3" -> Vector(),
      "b1" -> Vector(),
      "c1" -> Vector()
    ))
    assert(p.report.deleteFiles == 1 && p.report.resultRecords == 50 && p.report.liveRecords == 50)
    assert(p.report.toString.endsWith("bytes 4500, delete files 1"))
    assert(p.tasks.filter(_.deletes.nonEmpty).map(_.dataSequenceNumber).toSet == Set(1L))
    val pieces = Splits.split(p.tasks.find(_.deletes.nonEmpty).get.copy(length = 1000), 300).toVector
    assert(pieces.size == 4 && pieces.forall(_.deletes.size == 1))
  }

  test(
    "delete manifests of partitions that the filter excludes are not read",
    ManifestsOnly,
    ScanRules.skippedManifests
  ) {
    val t = sample
    t.append(positionDeletes("d", partition = part("a")))
    val reads = t.io.reads.get
    assert(deletes(plan(t, equalTo("category", "b"))) == Map("b1" -> Vector()))
    assert(t.io.reads.get == reads + 2, "only the manifest list and the data manifest must be read")
  }

  test("delete manifests older than all planned data files are not read", ScanRules.positionSequence) {
    val t = sample(FormatVersion.V2)
    t.append(positionDeletes("d", partition = part("d")))
    t.upgrade()
    t.append(file("d1", part("d")))
    val reads = t.io.reads.get
    assert(deletes(plan(t, equalTo("category", "d"))) == Map("d1" -> Vector()))
    // A root lists the newest files itself.
    val own = if (DefaultVersion.version >= FormatVersion.V4) 1 else 2
    assert(t.io.reads.get == reads + own, "only the manifest list or root and the data manifest must be read")
  }

  test("entries of delete manifests with the status deleted are ignored", ScanRules.deletedEntries) {
    val t = sample(FormatVersion.V2)
    t.append(positionDeletes("d", partition = part("a")), positionDeletes("e", partition = part("a")))
    t.upgrade()
    t.commit(Vector.empty, removing("d"))
    assert(deletes(plan(t, equalTo("category", "a"))) == Map("a1" -> Vector("e"), "a2" -> Vector("e")))
  }

  test(
    "a partition filter never skips an equality delete file with an unpartitioned partition spec",
    ScanRules.globalEqualityOwnSpec
  ) {
    val t = new TestTable(schema, Vector(byCategory, PartitionSpec(1, Vector.empty)))
    t.append(file("a", part("a")), file("b", part("b")))
    t.append(equalityDeletes("global", specId = 1))
    assert(deletes(plan(t, equalTo("category", "a"))) == Map("a" -> Vector("global")))
    assert(deletes(plan(t, AlwaysTrue)) == Map("a" -> Vector("global"), "b" -> Vector("global")))
  }

  test(
    "a filter on one partition field does not skip delete files of partition specs without this field",
    ScanRules.inclusiveProjection
  ) {
    val byId = PartitionSpec(1, Vector(PartitionField(1, 1001, "id", Identity)))
    val t = new TestTable(schema, Vector(byCategory, byId), FormatVersion.V2)
    val seven = PartitionTuple(Vector(Some(IntLiteral(7))))
    t.append(file("old", part("a")), file("new", seven, specId = 1))
    t.append(
      positionDeletes("d-old", partition = part("a")),
      positionDeletes("d-new", partition = seven).copy(specId = 1)
    )
    t.upgrade()
    val found = deletes(plan(t, And(equalTo("category", "a"), Equal(Term.Named("id"), IntLiteral(7)))))
    assert(found == Map("old" -> Vector("d-old"), "new" -> Vector("d-new")))
  }

  private def keyBetween(low: Int, high: Int, column: Int): Metrics = MetricMaps(
    valueCounts = Some(Map(column -> 10L)),
    nullValueCounts = Some(Map(column -> 0L)),
    lowerBounds = Some(Map(column -> SingleValue.encode(IntLiteral(low)))),
    upperBounds = Some(Map(column -> SingleValue.encode(IntLiteral(high))))
  )

  test("equality deletes are skipped if none of their keys can match the filter", ScanRules.deletesByFilter) {
    val t = new TestTable(schema)
    t.append(file("f"))
    t.append(
      equalityDeletes("low").copy(metrics = keyBetween(1, 4, 1)),
      equalityDeletes("high").copy(metrics = keyBetween(5, 9, 1)),
      // Metrics of a non-key column are ignored, because a data row with the same key may have another value there.
      equalityDeletes("other").copy(metrics = keyBetween(1, 4, 3))
    )
    assert(deletes(plan(t, greaterThan("id", 6))) == Map("f" -> Vector("high", "other")))
    assert(deletes(plan(t, greaterThan("amount", 6))) == Map("f" -> Vector("low", "high", "other")))
  }

  test("a filter on data columns never skips position deletes", ScanRules.positionsNotByFilter) {
    val t = new TestTable(schema, version = FormatVersion.V2)
    t.append(file("f"))
    t.append(positionDeletes("p"), positionDeletes("q").copy(metrics = amounts(0, 1)))
    t.upgrade()
    assert(deletes(plan(t, greaterThan("amount", 6))) == Map("f" -> Vector("p", "q")))
  }

  test("the report subtracts the rows in deletion vectors from the number of live rows", ScanRules.vectorScope) {
    val t = new TestTable(schema, version = FormatVersion.V3)
    t.append(file("f"), file("g"))
    val vector = positionDeletes("v", of = Some("f")).copy(
      format = FileFormat.Puffin,
      recordCount = 3,
      contentOffset = Some(4),
      contentSizeInBytes = Some(40)
    )
    t.append(vector)
    val p = plan(t, AlwaysTrue)
    assert(deletes(p) == Map("f" -> Vector("v"), "g" -> Vector()))
    assert(p.report.resultRecords == 20 && p.report.liveRecords == 17)
    assert(p.tasks.map(_.estimatedRows).sum == 17)
  }

  test("a version 1 table with delete files is an error", ScanRules.noDeletesInVersion1) {
    val t = sample(FormatVersion.V2)
    t.append(positionDeletes("d", partition = part("a")))
    t.metadata = t.metadata.edited(formatVersion = FormatVersion.V1)
    val e = intercept[InvalidMetadata](plan(t, AlwaysTrue))
    assert(e.getMessage.contains("version 1"))
  }

  test("tasks of a table without deletes have no delete files") {
    val p = plan(sample, AlwaysTrue)
    assert(p.tasks.forall(_.deletes.isEmpty) && p.report.deleteFiles == 0)
  }
}
