package iceberglite.spec.partition

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.{EvolutionRules, PartitionRules}
import iceberglite.spec.FormatVersion.{V2, V3}
import iceberglite.spec.IcebergError._
import iceberglite.spec.SampleTables._
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.types.Type._
import iceberglite.spec.update.{MetadataUpdate, SchemaChanges}
import iceberglite.spec.update.MetadataUpdate._

/** Tests the checks of the source columns of partition specs and sort orders in metadata updates. */
class SourceCheckSuite extends AnyFunSuite {
  private val table = empty(V2)

  private def id(name: String): Int = table.schema.require(name).id

  private def partitioned(source: Int, transform: Transform): TableMetadata = {
    val spec = PartitionSpec(1, Vector(PartitionField(source, 1000, "p", transform)))
    MetadataUpdate.applyAll(table, Seq(AddPartitionSpec(spec), SetDefaultSpec(LastAdded)), CreatedMs)
  }

  private def sorted(source: Int, transform: Transform): TableMetadata = {
    val field = SortField(Vector(source), transform, SortDirection.Ascending, NullOrder.NullsFirst)
    val order = SortOrder(1, Vector(field))
    MetadataUpdate.applyAll(table, Seq(AddSortOrder(order), SetDefaultSortOrder(LastAdded)), CreatedMs)
  }

  private def rejection(make: (Int, Transform) => TableMetadata, name: String, transform: Transform): String =
    intercept[ValidationFailed](make(id(name), transform)).getMessage

  test(
    "sources are primitive columns outside lists and maps, of a type that the transform accepts",
    PartitionRules.primitiveSources,
    PartitionRules.sortSources
  ) {
    Seq[(Int, Transform) => TableMetadata](partitioned, sorted).foreach { make =>
      assert(rejection(make, "location", Identity).contains("Column location cannot be the source"))
      assert(rejection(make, "points.element.x", Bucket(4)).contains("inside points"))
      assert(rejection(make, "tags.value", Identity).contains("inside tags"))
      assert(rejection(make, "id", Day).contains("day does not support int"))
      make(id("location.lat"), Identity)
      intercept[ValidationFailed](make(99, Identity))
    }
  }

  test("an unknown transform is accepted in a partition spec", PartitionRules.unknownKept) {
    assert(partitioned(id("id"), UnknownTransform("zorder[3]")).spec.hasUnknownTransform)
  }

  test("a type promotion that would invalidate the sort order is rejected", PartitionRules.sortSources) {
    val base = SchemaChanges(empty(V3)).addColumn(Vector.empty, "u", UnknownType)
    val grown = MetadataUpdate.applyAll(empty(V3), base.updates, CreatedMs)
    val field = SortField(Vector(grown.schema.require("u").id), Identity, SortDirection.Ascending, NullOrder.NullsLast)
    val order = Seq(AddSortOrder(SortOrder(1, Vector(field))), SetDefaultSortOrder(LastAdded))
    val update = SchemaChanges(MetadataUpdate.applyAll(grown, order, CreatedMs))
    assert(intercept[ValidationFailed](update.updateType(Vector("u"), VariantType)).getMessage.contains("column u"))
    update.updateType(Vector("u"), StringType).result
  }

  test("a column cannot get the name of a partition field on another column", PartitionRules.fieldNames) {
    val update = SchemaChanges(empty(V2, byDay))
    val added = update.addColumn(Vector.empty, "ts_day", IntType)
    assert(intercept[ValidationFailed](added.result).getMessage.contains("Column ts_day"))
    val nested = SchemaChanges(empty(V2, UnboundPartitionField(Vector("id"), Bucket(4), Some("location.b"))))
    assert(intercept[ValidationFailed](nested.renameColumn(Vector("location", "lat"), "b").result)
      .getMessage.contains("Column location.b"))
    update.renameColumn(Vector("ts"), "ts_day").result
  }

  test(
    "an equal sort order reuses the existing id, and another null order or direction makes a different order",
    PartitionRules.equalOrder,
    PartitionRules.unsorted,
    PartitionRules.sortFields
  ) {
    val first = sorted(id("id"), Bucket(4))
    def order(nulls: NullOrder, direction: SortDirection = SortDirection.Ascending) =
      AddSortOrder(SortOrder(7, Vector(SortField(Vector(id("id")), Bucket(4), direction, nulls))))
    def after(update: MetadataUpdate) =
      MetadataUpdate.applyAll(first, Seq(update, SetDefaultSortOrder(LastAdded)), CreatedMs)
    assert(first.defaultSortOrderId == 1)
    assert(after(order(NullOrder.NullsFirst)).sortOrders == first.sortOrders)
    assert(after(order(NullOrder.NullsLast)).defaultSortOrderId == 2)
    assert(after(order(NullOrder.NullsFirst, SortDirection.Descending)).defaultSortOrderId == 2)
    assert(after(AddSortOrder(SortOrder(5, Vector.empty))).defaultSortOrderId == 0)
  }

  test(
    "int and decimal columns can be promoted under identity, bucket, truncate and void, float columns under identity",
    EvolutionRules.promotionOfSource
  ) {
    val transforms = Seq(Identity, Bucket(4), Truncate(10), Void)
    transforms.foreach { t =>
      val fields = Seq("id", "amount").map(c => UnboundPartitionField(Vector(c), t, Some(s"p_$c")))
      SchemaChanges(empty(V2, fields: _*)).updateType(Vector("id"), LongType)
        .updateType(Vector("amount"), DecimalType(20, 2)).result
    }
    SchemaChanges(empty(V2, UnboundPartitionField(Vector("location", "lat"), Identity)))
      .updateType(Vector("location", "lat"), DoubleType).result
  }
}
