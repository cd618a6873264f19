package iceberglite.tree

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.TestMetadata._
import iceberglite.conformance.ManifestRules
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.{UnreadableFile, ValidationFailed}
import iceberglite.spec.expr.{Bind, Term}
import iceberglite.spec.expr.Expression.{AlwaysTrue, GreaterThan}
import iceberglite.spec.file.{ContentFile, InclusiveMetrics, StrictMetrics}
import iceberglite.spec.metadata.Operation
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Literal.LongLiteral
import iceberglite.spec.types.Type.LongType
import iceberglite.table.SnapshotSummary
import iceberglite.tree.TestTable._

/** Tests data files with the record count -1 in their manifest entries. Apache Iceberg imports Avro files like this. */
class UncountedFilesSuite extends AnyFunSuite {
  private val schema = Schema(0, Vector(NestedField.optional(1, "id", LongType)))

  private def uncounted(name: String): ContentFile = file(name, records = ContentFile.UnknownRecords)

  private def table(files: ContentFile*): TestTable = {
    val t = new TestTable(schema)
    t.append(files: _*)
    t
  }

  test("a data file may have an unknown record count, but a delete file may not", ManifestRules.unknownRecords) {
    val t = table(file("a"), uncounted("u"))
    assert(t.live.map(_.file.recordCount) == Vector(10L, -1L))
    assert(t.manifests.map(_.addedRowsCount) == Vector(Some(10L)))
    assert(intercept[ValidationFailed](t.append(file("x", records = -2))).getMessage.contains("record count -2"))
    val deletes = positionDeletes("d").copy(recordCount = -1)
    t.append(deletes)
    assert(intercept[UnreadableFile](t.live).reason.contains("record_count (field 103)"))
  }

  test("row totals exclude files with an unknown record count", ManifestRules.unknownRecords) {
    val t = table(file("a"), uncounted("u"))
    val written = t.write(t.header(), FileChanges(Vector(uncounted("v")), removing("u")))
    val summary = SnapshotSummary.of(Operation.Overwrite, t.metadata, None, written, Map.empty)
    assert(!summary.contains("added-records") && !summary.contains("deleted-records"))
    assert(summary("total-records") == "0" && summary("deleted-data-files") == "1")
    val parent = t.metadata.currentSnapshot.map(s => s.copy(summary = s.summary + ("total-records" -> "-1")))
    val after = SnapshotSummary.of(Operation.Append, t.metadata, parent, written, Map.empty)
    assert(!after.contains("total-records"), "a negative total of the parent is treated as unknown")
  }

  test(
    "a file without record count and metrics may match any filter, and matches completely only if the filter is true",
    ManifestRules.unknownRecords
  ) {
    val above = Bind(GreaterThan(Term.Named("id"), LongLiteral(0)), schema, caseSensitive = true)
    assert(new InclusiveMetrics(above).mightMatch(uncounted("u")))
    assert(!new StrictMetrics(above).allMatch(uncounted("u")))
    assert(new StrictMetrics(AlwaysTrue).allMatch(uncounted("u")))
  }

  test("a version 3 table does not accept a file with an unknown record count", ManifestRules.countedRowIds) {
    val t = new TestTable(schema, version = FormatVersion.V3)
    val error = intercept[ValidationFailed](t.append(uncounted("u")))
    assert(error.getMessage.contains("u.parquet") && error.getMessage.contains("record count -1"))
  }

  test(
    "after an upgrade to version 3, commits fail until files with an unknown record count are removed",
    ManifestRules.countedRowIds
  ) {
    val t = table(file("a"), uncounted("u"))
    t.append(file("b"))
    t.metadata = t.metadata.edited(formatVersion = FormatVersion.V3)
    Seq(FileSelector.NoFiles, removing("a")).foreach { remove =>
      val error = intercept[ValidationFailed](t.write(t.header(), FileChanges(Vector(file("c")), remove)))
      assert(error.getMessage.contains("u.parquet") && error.getMessage.contains("record_count -1"))
    }
    t.commit(Vector(file("c")), removing("u"))
    assert(t.live.flatMap(_.file.firstRowId).toSet.size == 3)
    assert(t.metadata.nextRowId == 30)
  }
}
