package iceberglite.spec.update

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion.{V1, V2, V3, V4}
import iceberglite.spec.IcebergError.{AlreadyExists, NotFound, Unsupported, ValidationFailed}
import iceberglite.spec.SampleTables._
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{Bucket, Day, Identity, PartitionField, PartitionSpec, TableExpression}
import iceberglite.spec.types.Type.LongType
import iceberglite.spec.update.MetadataUpdate._

/** Tests the expressions of version 4 tables, which metadata updates add. */
class ExpressionsUpdateSuite extends AnyFunSuite {
  private def applied(base: TableMetadata, updates: MetadataUpdate*): TableMetadata =
    applyAll(base, updates, CreatedMs + 60000)

  private def rejection(base: TableMetadata, updates: MetadataUpdate*): String =
    intercept[ValidationFailed](applied(base, updates: _*)).getMessage

  test("an upgrade to version 4 adds an expression for each partition field, and later columns get other ids") {
    Seq(V1, V2, V3).foreach { version =>
      val base = withHistory(version)
      val upgraded = applied(base, UpgradeFormatVersion(V4))
      assert(upgraded.expressions.map(_.id) == Vector(base.lastColumnId + 1, base.lastColumnId + 2))
      assert(upgraded.expressions.flatMap(_.partitionFieldId) == base.spec.fields.map(_.fieldId))
      val changes = SchemaChanges(upgraded).addColumn(Vector.empty, "added", LongType, None)
      assert(changes.schema.find("added").map(_.id).contains(base.lastColumnId + 3))
      assert(rejection(upgraded, UpgradeFormatVersion(V3)).contains("from format version 4 to 3"))
    }
  }

  test("a table with roots that has lost the expression of a partition transform is not changed") {
    val table = withHistory(V4)
    def lost(m: TableMetadata, root: String) =
      m.copy(expressions = Vector.empty, snapshots = m.snapshots.map(_.copy(manifestList = Some(root))))
    val change = SetProperties(Map("a" -> "b"))
    assert(
      rejection(lost(table, "mem:/t/metadata/root-1.parquet"), change).contains("partition field ts_day (id 1000)")
    )
    assert(applied(lost(table, "mem:/t/metadata/snap-1.avro"), change).expressions.size == 2)
    val byColumn = table.specs.map(s => s.copy(fields = s.fields.map(_.copy(transform = Identity))))
    assert(applied(lost(table.copy(specs = byColumn), "root-1.parquet"), change).expressions.size == 2)
    assert(applied(lost(table, "root-1.parquet").copy(snapshots = Vector.empty), change).expressions.size == 2)
  }

  test("in version 4, non-identity partition fields with expression ids too high for statistics are rejected") {
    val base = empty(V4).copy(lastColumnId = TableExpression.MaxId)
    val spec = PartitionSpec(1, Vector(PartitionField(2, 1000, "ts_day", Day)))
    assert(rejection(base, AddPartitionSpec(spec)).contains("Use format version 3"))
    val byColumn = PartitionSpec(1, Vector(PartitionField(1, 1000, "id", Identity)))
    assert(applied(base, AddPartitionSpec(byColumn)).expressions.size == 1)
  }

  test("expressions that no partition field uses are added with new ids, kept by other updates, and removed") {
    val base = applied(withHistory(V3), UpgradeFormatVersion(V4))
    val added = applied(base, AddExpression(Vector(1), Bucket(8), "own"))
    val expression = TableExpression(base.lastColumnId + 1, Vector(1), Bucket(8), "own", None)
    assert(added.expressions == base.expressions :+ expression && added.lastColumnId == expression.id)
    val kept = applied(added, SetProperties(Map("a" -> "b")))
    assert(kept.expressions == added.expressions)
    val removed = applied(kept, RemoveExpression(expression.id))
    assert(removed.expressions == base.expressions && removed.lastColumnId == expression.id)
    val again = applied(removed, AddExpression(Vector(1), Bucket(8), "own"))
    assert(again.expressions.last.id == expression.id + 1)
  }

  test("a new table can have the expressions of another table with their ids, and its partition fields use them") {
    val source = applied(
      applied(withHistory(V3), UpgradeFormatVersion(V4)),
      AddExpression(Vector(1), Bucket(8), "own")
    )
    val copied = applied(empty(V4), CopyExpressions(source.expressions))
    assert(copied.expressions == source.expressions && copied.lastColumnId >= source.expressions.map(_.id).max)
    val partitioned = applied(copied, source.specs.filter(_.fields.nonEmpty).map(AddPartitionSpec(_)): _*)
    assert(partitioned.expressions == source.expressions)
    assert(rejection(copied, CopyExpressions(source.expressions)).contains("which has expressions"))
    intercept[Unsupported](applied(empty(V3), CopyExpressions(source.expressions)))
  }

  test("an expression is rejected if another one computes the same values or has the same name, or in version 3") {
    val base = applied(withHistory(V3), UpgradeFormatVersion(V4))
    val partition = base.expressions.last
    val same = AddExpression(partition.sourceIds, partition.transform, "other")
    assert(intercept[AlreadyExists](applied(base, same)).name == s"${partition.name} (id ${partition.id})")
    assert(intercept[AlreadyExists](applied(base, AddExpression(Vector(1), Bucket(3), partition.name))).advice ==
      "Choose another name")
    assert(intercept[Unsupported](applied(withHistory(V3), AddExpression(Vector(1), Bucket(3), "b"))).advice ==
      "Upgrade the table to format version 4")
  }

  test("an expression that a partition spec uses is not removed") {
    val base = applied(withHistory(V3), UpgradeFormatVersion(V4))
    val partition = base.expressions.last
    assert(rejection(base, RemoveExpression(partition.id)).contains("the partition values of the field"))
    assert(intercept[NotFound](applied(base, RemoveExpression(9999))).name == "9999")
  }

  test("a new partition field uses an existing expression for its values, if no other field uses the expression") {
    val base = applied(empty(V4), AddExpression(Vector(2), Day, "by_day"))
    val spec = PartitionSpec(1, Vector(PartitionField(2, 1000, "ts_day", Day)))
    val partitioned = applied(base, AddPartitionSpec(spec), SetDefaultSpec(LastAdded))
    assert(partitioned.expressions == base.expressions.map(_.copy(partitionFieldId = Some(1000))))
    val high = empty(V4).copy(lastColumnId = TableExpression.MaxId)
    assert(rejection(high, AddExpression(Vector(2), Day, "by_day")).startsWith("Cannot add the expression by_day"))
  }
}
