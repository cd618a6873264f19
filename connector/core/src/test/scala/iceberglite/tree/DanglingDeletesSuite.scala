package iceberglite.tree

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.ManifestRules
import iceberglite.spec.FormatVersion
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.{AlwaysTrue, LessThan}
import iceberglite.spec.expr.Term.Named
import iceberglite.spec.file.{Content, ContentFile, EntryStatus, FileFormat, ManifestContent, ManifestEntry, MetricMaps}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, SingleValue}
import iceberglite.spec.types.Literal.LongLiteral
import iceberglite.spec.types.Type.LongType
import iceberglite.table.action.{RowMatch, RowFilter}
import iceberglite.tree.TestTable._

/** Tests that a commit that removes data files also removes the delete files that no longer apply to any data file. */
class DanglingDeletesSuite extends AnyFunSuite {
  private val schema =
    Schema(0, Vector(NestedField.optional(1, "id", LongType), NestedField.optional(2, "n", LongType)))

  private def vector(of: String, at: Long): ContentFile = positionDeletes("vectors", Some(of)).copy(
    format = FileFormat.Puffin,
    contentOffset = Some(at),
    contentSizeInBytes = Some(40),
    recordCount = 2
  )

  private def deleted(t: TestTable): Vector[ManifestEntry] = t.entries.filter(_.status == EntryStatus.Deleted)

  test(
    "removing a data file also removes its deletion vector, and the vector's entry keeps its sequence numbers",
    ManifestRules.vectorIsRemoved,
    ManifestRules.deletedBy,
    ManifestRules.explicitNumbers
  ) {
    val t = new TestTable(schema, version = FormatVersion.V3)
    t.append(file("a"), file("b"))
    t.append(vector("a", 4), vector("b", 44))
    t.commit(Vector.empty, removing("a"))
    val removedVectors = deleted(t).filter(_.file.content != Content.Data)
    assert(removedVectors.map(_.file.contentOffset) == Vector(Some(4L)))
    assert(removedVectors.map(e => (e.snapshotId, e.sequenceNumber, e.fileSequenceNumber)) == Vector((
      Some(3L),
      Some(2L),
      Some(2L)
    )))
    val remainingVector = t.live.find(_.file.content != Content.Data).get
    assert(remainingVector.status == EntryStatus.Existing)
    assert(remainingVector.snapshotId.contains(2L) && remainingVector.sequenceNumber.contains(2L))
    assert(t.manifests.filter(_.content == ManifestContent.Deletes).forall(_.firstRowId.isEmpty))
    assert(t.entries.filter(_.file.content != Content.Data).forall(_.file.firstRowId.isEmpty))
    assert(t.live.filter(_.file.content == Content.Data).map(_.file.firstRowId) == Vector(Some(10L)))
    assert(t.metadata.currentSnapshot.flatMap(_.addedRows).contains(10L), "row ids are also reserved for existing rows")
  }

  private def withOldDeletes(): TestTable = {
    val t = new TestTable(schema)
    t.append(file("a"))
    t.append(positionDeletes("p"), equalityDeletes("e"))
    t.append(file("b"))
    t.append(equalityDeletes("later"))
    t
  }

  private def names(t: TestTable): Set[String] = t.live.map(e => nameOf(e.file)).toSet

  test("removing data files removes deletes older than all remaining data files", ManifestRules.obsoleteDeletes) {
    val t = withOldDeletes()
    t.commit(Vector(file("c")), removing("a"))
    assert(names(t) == Set("b", "c", "later"))
    t.commit(Vector(file("d")), removing("b"))
    assert(names(t) == Set("c", "d"))
  }

  test(
    "deletes are kept while an older data file remains, or if no data file is removed",
    ManifestRules.obsoleteDeletes
  ) {
    val withOlderFile = withOldDeletes()
    withOlderFile.commit(Vector.empty, removing("b"))
    assert(names(withOlderFile) == Set("a", "p", "e", "later"))
    val t = new TestTable(schema)
    t.append(equalityDeletes("e"))
    t.append(file("b"))
    t.append(file("c"))
    assert(names(t) == Set("e", "b", "c"))
  }

  test(
    "deletes are also kept if a data file with an older sequence number is added",
    ManifestRules.obsoleteDeletes,
    ManifestRules.olderNumber
  ) {
    val t = withOldDeletes()
    val changes = FileChanges(Vector.empty, removing("a"), Vector(OlderFile(file("a2"), 1)))
    t.adopt(t.write(t.header(), changes))
    assert(names(t) == Set("a2", "b", "p", "e", "later"))
  }

  test("whether a filter matches the rows of an equality delete file is decided by the bounds of key columns only") {
    val bounds = Map(1 -> LongLiteral(5), 2 -> LongLiteral(5)).map { case (id, v) => id -> SingleValue.encode(v) }
    val metrics = MetricMaps(
      valueCounts = Some(Map(1 -> 1L, 2 -> 1L)),
      nullValueCounts = Some(Map(1 -> 0L, 2 -> 0L)),
      lowerBounds = Some(bounds),
      upperBounds = Some(bounds)
    )
    val t = new TestTable(schema)
    t.append(equalityDeletes("e").copy(metrics = metrics, recordCount = 1))
    def matched(filter: Expression): RowMatch =
      new RowFilter(filter, caseSensitive = true, t.metadata).matches(t.live.head)
    assert(matched(LessThan(Named("id"), LongLiteral(9))) == RowMatch.AllRows)
    assert(matched(LessThan(Named("id"), LongLiteral(5))) == RowMatch.NoRows)
    assert(matched(LessThan(Named("n"), LongLiteral(9))) == RowMatch.SomeRows)
    assert(matched(LessThan(Named("n"), LongLiteral(5))) == RowMatch.SomeRows)
    assert(matched(AlwaysTrue) == RowMatch.AllRows)
  }
}
