package iceberglite.metrics

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.MetricsRules
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.partition.{Bucket, Identity, NullOrder, SortDirection, SortField, SortOrder, Transform}
import iceberglite.spec.property.MetricsMode
import iceberglite.spec.property.MetricsMode.{Counts, Full, NoMetrics, Truncate}
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.NestedField.optional
import iceberglite.spec.types.Type._

class MetricsModesSuite extends AnyFunSuite {
  private val schema = Schema(
    0,
    Vector(
      optional(1, "a", LongType),
      optional(2, "s", StructType(Vector(optional(3, "x.y", IntType)))),
      optional(4, "b", StringType)
    )
  )
  private def modes(properties: (String, String)*): Map[Int, MetricsMode] =
    MetricsModes.of(properties.toMap, schema, SortOrder.Unsorted).byId
  private def sortedBy(id: Int, transform: Transform): SortOrder =
    SortOrder(1, Vector(SortField(Vector(id), transform, SortDirection.Ascending, NullOrder.NullsFirst)))

  test("the default mode of every primitive column is truncate(16)") {
    assert(modes() == Map(1 -> Truncate(16), 3 -> Truncate(16), 4 -> Truncate(16)))
    assert(MetricsModes.of(Map.empty, schema, SortOrder.Unsorted).of(2) == NoMetrics)
  }

  test(
    "the mode of a column overrides the default mode, including nested columns and names with dots",
    MetricsRules.modes
  ) {
    val set = modes(
      "write.metadata.metrics.default" -> "counts",
      "write.metadata.metrics.column.s.x.y" -> "full",
      "write.metadata.metrics.column.b" -> "none"
    )
    assert(set == Map(1 -> Counts, 3 -> Full, 4 -> NoMetrics))
  }

  test("sort columns have bounds even if the default mode has none, except by bucket", MetricsRules.inferredColumns) {
    val none = Map("write.metadata.metrics.default" -> "none")
    val onlySorted = Map(1 -> NoMetrics, 3 -> NoMetrics, 4 -> Truncate(16))
    assert(MetricsModes.of(none, schema, sortedBy(4, Identity)).byId == onlySorted)
    assert(MetricsModes.of(none, schema, sortedBy(4, Bucket(4))).of(4) == NoMetrics)
    val full = Map("write.metadata.metrics.default" -> "full")
    assert(MetricsModes.of(full, schema, sortedBy(4, Identity)).of(4) == Full)
    val explicitNone = none + ("write.metadata.metrics.column.b" -> "none")
    assert(MetricsModes.of(explicitNone, schema, sortedBy(4, Identity)).of(4) == NoMetrics)
  }

  test("columns by which the table is clustered have bounds even if the default mode has none") {
    def clustered(ids: String) = modes("write.metadata.metrics.default" -> "none", "iceberg-lite.cluster-by" -> ids)
    assert(clustered("4,99,2") == Map(1 -> NoMetrics, 3 -> NoMetrics, 4 -> Truncate(16)))
    assert(intercept[InvalidArgument](clustered("b")).getMessage.contains("iceberg-lite.cluster-by"))
  }

  test(
    "by default, only the first 100 columns of a table have metrics, counting top-level columns before nested ones",
    MetricsRules.inferredColumns
  ) {
    val inner = StructType((200 until 250).map(i => optional(i, s"n$i", IntType)).toVector)
    val wide =
      Schema(0, optional(199, "s", inner) +: (1 to 80).map(i => optional(i, s"c$i", IntType)).toVector)
    val byId = MetricsModes.of(Map.empty, wide, SortOrder.Unsorted).byId
    assert((1 to 80).forall(byId(_) == Truncate(16)) && (200 until 220).forall(byId(_) == Truncate(16)))
    assert((220 until 250).forall(byId(_) == NoMetrics))
    assert(MetricsModes.of(Map.empty, wide, sortedBy(240, Identity)).of(240) == Truncate(16))
    val set = Map("write.metadata.metrics.default" -> "truncate(16)")
    assert(MetricsModes.of(set, wide, SortOrder.Unsorted).of(249) == Truncate(16))
  }

  test(
    "the columns file_path and pos of position deletes have mode full, and other columns have the table's modes",
    MetricsRules.deleteFiles
  ) {
    val ofDeletes = MetricsModes.ofPositionDeletes(MetricsModes.of(
      Map("write.metadata.metrics.default" -> "none", "write.metadata.metrics.column.b" -> "counts"),
      schema,
      SortOrder.Unsorted
    ))
    assert(
      ofDeletes.of(MetadataColumns.DeleteFilePath.id) == Full && ofDeletes.of(MetadataColumns.DeletePosition.id) == Full
    )
    assert(ofDeletes.of(1) == NoMetrics && ofDeletes.of(4) == Counts)
  }

  test("the error for an invalid metrics mode contains the property") {
    val error = intercept[InvalidArgument](modes("write.metadata.metrics.column.a" -> "some"))
    assert(error.getMessage.contains("write.metadata.metrics.column.a"))
  }
}
