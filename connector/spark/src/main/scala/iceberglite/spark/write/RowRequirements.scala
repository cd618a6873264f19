package iceberglite.spark.write

import scala.util.Try

import org.apache.spark.sql.connector.distributions.{Distribution, Distributions, UnspecifiedDistribution}
import org.apache.spark.sql.connector.expressions.{
  Expression => SparkExpression,
  Expressions,
  NullOrdering,
  SortDirection => SparkDirection,
  SortOrder => SparkSortOrder
}
import org.apache.spark.sql.types.{IntegerType, StructType}

import iceberglite.spark.convert.{PartitionTerm, SparkTypes}
import iceberglite.spark.function.Functions
import iceberglite.spec.partition.{
  Identity,
  NullOrder,
  PartitionSpec,
  SortDirection,
  SortField,
  SortOrder,
  Transform,
  Void
}
import iceberglite.spec.property.DistributionMode
import iceberglite.spec.schema.{ColumnPath, Schema}
import iceberglite.spec.types.{PrimitiveType, Type}
import iceberglite.spec.types.Type.{TimestampNsType, TimestampTzNsType, UuidType}

/**
 * The requirements of a write for the distribution and order of its rows.
 *
 * @param clustered whether the ordering places the rows of each partition next to each other in a task
 * @param sorted whether the ordering also sorts the rows of each partition by the table's sort order
 * @param partitions the partition transforms that Spark can compute
 */
final private[iceberglite] case class RowRequirements(
    distribution: Distribution,
    ordering: Array[SparkSortOrder],
    clustered: Boolean,
    sorted: Boolean,
    partitions: Vector[SparkExpression] = Vector.empty
) {
  def isDistributed: Boolean = !distribution.isInstanceOf[UnspecifiedDistribution]
}

private[iceberglite] object RowRequirements {

  /** The requirements of a write whose rows need no distribution and no order. */
  val Unspecified: RowRequirements =
    RowRequirements(Distributions.unspecified(), Array.empty, clustered = false, sorted = false)

  /**
   * Returns the requirements of a write.
   *
   * @param mode the distribution mode; absent for the default, which depends on the table's sort order and partitioning
   * @param fanout whether files may be open for all partitions, so that rows need not be sorted by partition; rows of a
   *   table with a sort order are sorted anyway
   */
  def of(
      schema: Schema,
      spec: PartitionSpec,
      order: SortOrder,
      mode: Option[DistributionMode],
      fanout: Boolean
  ): RowRequirements = {
    val fields = spec.fields.filter(_.transform != Void)
    val partitions = fields.flatMap(f => term(schema, f.sourceIds, f.transform))
    val hasAllPartitions = partitions.size == fields.size
    val byPartition = partitions.map(Expressions.sort(_, SparkDirection.ASCENDING, NullOrdering.NULLS_FIRST))
    val byOrder = order.fields.flatMap(f => term(schema, f.sourceIds, f.transform).map(sort(_, f)))
    val sorted = order.isSorted && hasAllPartitions && byOrder.size == order.fields.size
    val fullOrdering = if (sorted) withoutRepetition(byPartition ++ byOrder) else byPartition
    val ordering = if (sorted || (!fanout && hasAllPartitions)) fullOrdering else Vector.empty
    val distribution = mode.getOrElse(defaultMode(sorted, partitions.nonEmpty)) match {
      case DistributionMode.Hash if partitions.nonEmpty => Distributions.clustered(partitions.toArray)
      case DistributionMode.Range if fullOrdering.nonEmpty => Distributions.ordered(fullOrdering.toArray)
      case _ => Distributions.unspecified()
    }
    RowRequirements(distribution, ordering.toArray, clustered = ordering.nonEmpty, sorted, partitions)
  }

  private def defaultMode(sorted: Boolean, partitioned: Boolean): DistributionMode =
    if (sorted) DistributionMode.Range
    else if (partitioned) DistributionMode.Hash
    else DistributionMode.NoDistribution

  private def sort(term: SparkExpression, field: SortField): SparkSortOrder = {
    val direction =
      if (field.direction == SortDirection.Descending) SparkDirection.DESCENDING else SparkDirection.ASCENDING
    val nulls = if (field.nullOrder == NullOrder.NullsLast) NullOrdering.NULLS_LAST else NullOrdering.NULLS_FIRST
    Expressions.sort(term, direction, nulls)
  }

  /**
   * Removes each term whose expression already occurs in an earlier term, because such a term does not change the
   * order.
   */
  private def withoutRepetition(orders: Vector[SparkSortOrder]): Vector[SparkSortOrder] =
    orders.zipWithIndex.filterNot { case (o, i) => orders.take(i).exists(_.expression == o.expression) }.map(_._1)

  /**
   * Returns the expression with which Spark computes the transform of a column; absent if Spark's results would differ
   * from the results that the specification defines.
   */
  private def term(schema: Schema, sourceIds: Vector[Int], transform: Transform): Option[SparkExpression] =
    for {
      id <- if (sourceIds.size == 1) sourceIds.headOption else None
      field <- schema.byId.get(id)
      source <- Some(field.fieldType).collect { case p: PrimitiveType if hasOneValuePerRow(schema, id) => p }
      if transform == Identity || hasSameTransforms(source)
      spark = PartitionTerm(schema.paths(id), transform).sparkTransform
      if transform == Identity || hasFunction(spark.name, spark.arguments.length, source)
    } yield spark

  /**
   * Whether a row has exactly one value of a field. This is false for fields in lists and maps, which the sort orders
   * of other writers may contain.
   */
  private def hasOneValuePerRow(schema: Schema, id: Int): Boolean =
    ColumnPath.require(schema, schema.paths(id), caseSensitive = true).init
      .forall(_.fieldType.isInstanceOf[Type.StructType])

  /**
   * Whether transforms of Spark's values have the results that the specification defines. The results differ for uuid
   * and for timestamps in nanoseconds, because Spark's values are strings and numbers.
   */
  private def hasSameTransforms(source: PrimitiveType): Boolean = source match {
    case UuidType | TimestampNsType | TimestampTzNsType => false
    case _ => true
  }

  private def hasFunction(name: String, arguments: Int, source: PrimitiveType): Boolean = {
    val parameters = (1 until arguments).foldLeft(new StructType)((s, i) => s.add(s"parameter$i", IntegerType))
    val types = parameters.add("value", SparkTypes.toSpark(source))
    Functions.inPlans.find(_.name == name).exists(function => Try(function.bind(types)).isSuccess)
  }
}
