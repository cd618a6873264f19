package iceberglite.spark.write

import org.apache.spark.sql.connector.distributions.{ClusteredDistribution, OrderedDistribution}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.partition.{
  Bucket,
  Day,
  Identity,
  PartitionField,
  PartitionSpec,
  SortField,
  SortOrder,
  Transform,
  Truncate,
  Void
}
import iceberglite.spec.partition.NullOrder.{NullsFirst, NullsLast}
import iceberglite.spec.partition.SortDirection.{Ascending, Descending}
import iceberglite.spec.property.DistributionMode
import iceberglite.spec.property.DistributionMode.{Hash, NoDistribution, Range}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField.optional
import iceberglite.spec.types.Type._

/** Checks the distribution and the order of rows that a write requests from Spark. */
class RowRequirementsSuite extends AnyFunSuite {
  private val schema = Schema(
    0,
    Vector(
      optional(1, "id", LongType),
      optional(2, "ts", TimestampTzType),
      optional(3, "a.b", StructType(Vector(optional(4, "c", StringType)))),
      optional(5, "u", UuidType),
      optional(6, "nanos", TimestampNsType),
      optional(7, "l", ListType(8, IntType, elementRequired = false))
    )
  )

  private def spec(fields: (Int, Transform)*): PartitionSpec = PartitionSpec(
    1,
    fields.zipWithIndex.map { case ((id, t), i) => PartitionField(id, 1000 + i, s"p$i", t) }.toVector
  )

  private val sortOrder =
    SortOrder(
      1,
      Vector(
        SortField(Vector(4), Identity, Descending, NullsLast),
        SortField(Vector(1), Identity, Ascending, NullsFirst)
      )
    )

  private def requirements(
      spec: PartitionSpec,
      order: SortOrder = SortOrder.Unsorted,
      mode: Option[DistributionMode] = None,
      fanout: Boolean = true
  ): RowRequirements = RowRequirements.of(schema, spec, order, mode, fanout)

  private def distribution(r: RowRequirements): Seq[String] = r.distribution match {
    case hash: ClusteredDistribution => hash.clustering.map(_.toString).toSeq
    case range: OrderedDistribution => range.ordering.map(_.toString).toSeq
    case _ => Seq.empty
  }

  private val partitions = spec(2 -> Day, 1 -> Bucket(16), 4 -> Truncate(2), 1 -> Identity)

  test("the rows of a partition are sent to one task, and are not sorted") {
    val r = requirements(partitions)
    assert(distribution(r) == Seq("days(ts)", "bucket(16, id)", "truncate(2, `a.b`.c)", "identity(id)"))
    assert(r.ordering.isEmpty && !r.clustered && !r.sorted)
  }

  test("if fan-out is disabled, rows are sorted by partition") {
    val r = requirements(spec(2 -> Day, 1 -> Bucket(16)), fanout = false)
    assert(r.ordering.map(_.toString).toSeq == Seq("days(ts) ASC NULLS FIRST", "bucket(16, id) ASC NULLS FIRST"))
    assert(r.clustered && !r.sorted)
  }

  test("rows of a table without partitions and sort order are not distributed or sorted, in any distribution mode") {
    Seq(None, Some(Hash), Some(Range), Some(NoDistribution)).foreach { mode =>
      val r = requirements(PartitionSpec.Unpartitioned, mode = mode)
      assert(!r.isDistributed && r.ordering.isEmpty && !r.sorted)
    }
  }

  test("rows of a table with a sort order are range-partitioned, and sorted by partition and then by the order") {
    val r = requirements(spec(1 -> Bucket(4), 1 -> Identity), sortOrder)
    val expected = Seq(
      "bucket(4, id) ASC NULLS FIRST",
      "identity(id) ASC NULLS FIRST",
      "identity(`a.b`.c) DESC NULLS LAST"
    )
    assert(distribution(r) == expected && r.ordering.map(_.toString).toSeq == expected && r.clustered && r.sorted)
    assert(distribution(requirements(spec(1 -> Bucket(4)), sortOrder, Some(Hash))) == Seq("bucket(4, id)"))
    assert(!requirements(spec(1 -> Bucket(4)), sortOrder, Some(NoDistribution)).isDistributed)
  }

  test("partition fields with the void transform have no effect on the distribution") {
    assert(!requirements(spec(1 -> Void)).isDistributed)
  }

  test("rows are neither distributed nor sorted by list elements") {
    val byElement = SortOrder(1, Vector(SortField(Vector(8), Identity, Ascending, NullsFirst)))
    val r = requirements(PartitionSpec.Unpartitioned, byElement)
    assert(!r.isDistributed && r.ordering.isEmpty && !r.sorted)
  }

  test("transforms that Spark would compute differently from Iceberg do not distribute rows, and prevent sorting") {
    val r = requirements(spec(5 -> Bucket(4), 6 -> Day, 1 -> Identity), sortOrder, fanout = false)
    assert(distribution(r) == Seq("identity(id)") && r.ordering.isEmpty && !r.clustered && !r.sorted)
    assert(distribution(requirements(spec(5 -> Identity))) == Seq("identity(u)"))
  }
}
