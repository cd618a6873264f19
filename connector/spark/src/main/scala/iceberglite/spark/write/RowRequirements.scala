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

import iceberglite.spark.catalog.PartitionTerm
import iceberglite.spark.convert.SparkTypes
import iceberglite.spark.function.Functions
import iceberglite.spec.Type.{TimestampNsType, TimestampTzNsType, UuidType}
import iceberglite.spec._
import iceberglite.spec.transform.{Identity, Void}

/**
 * What a write asks Spark to do with the rows before it gets them.
 *
 * @param clustered whether the rows of a task come partition by partition then
 * @param sorted whether they come in the table's sort order then, within a partition
 * @param partitions what the rows are partitioned by, as far as Spark can compute it
 */
final private[write] case class RowRequirements(
    distribution: Distribution,
    ordering: Array[SparkSortOrder],
    clustered: Boolean,
    sorted: Boolean,
    partitions: Vector[SparkExpression] = Vector.empty
) {
  def isDistributed: Boolean = !distribution.isInstanceOf[UnspecifiedDistribution]
}

private[write] object RowRequirements {

  /** The rows as they come. */
  val Nothing: RowRequirements =
    RowRequirements(Distributions.unspecified(), Array.empty, clustered = false, sorted = false)

  /**
   * @param mode absent: by the table's sort order, else by its partitions
   * @param fanout whether files may be open for all partitions, so that rows need not be sorted; a table with a sort
   *   order has them sorted anyway
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
    val partitionsKnown = partitions.size == fields.size
    val byPartition = partitions.map(Expressions.sort(_, SparkDirection.ASCENDING, NullOrdering.NULLS_FIRST))
    val byOrder = order.fields.flatMap(f => term(schema, f.sourceIds, f.transform).map(sort(_, f)))
    val sorted = order.isSorted && partitionsKnown && byOrder.size == order.fields.size
    val full = if (sorted) withoutRepetition(byPartition ++ byOrder) else byPartition
    val ordering = if (sorted || (!fanout && partitionsKnown)) full else Vector.empty
    val distribution = mode.getOrElse(defaultMode(sorted, partitions.nonEmpty)) match {
      case DistributionMode.Hash if partitions.nonEmpty => Distributions.clustered(partitions.toArray)
      case DistributionMode.Range if full.nonEmpty => Distributions.ordered(full.toArray)
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

  /** Rows that agree in a term cannot be sorted by it once more. */
  private def withoutRepetition(orders: Vector[SparkSortOrder]): Vector[SparkSortOrder] =
    orders.zipWithIndex.filterNot { case (o, i) => orders.take(i).exists(_.expression == o.expression) }.map(_._1)

  /** The transform of a column as Spark computes it; absent where that would be another value than ours. */
  private def term(schema: Schema, sourceIds: Vector[Int], transform: Transform): Option[SparkExpression] =
    for {
      id <- if (sourceIds.size == 1) sourceIds.headOption else None
      field <- schema.byId.get(id)
      source <- Some(field.fieldType).collect { case p: PrimitiveType if isOnceInRow(schema, id) => p }
      if transform == Identity || isTheSameInSpark(source)
      spark = PartitionTerm(schema.paths(id), transform).sparkTransform
      if transform == Identity || hasFunction(spark.name, spark.arguments.length, source)
    } yield spark

  /** Other writers let tables be sorted by the elements of a list, too, of which a row has many. */
  private def isOnceInRow(schema: Schema, id: Int): Boolean =
    ColumnPath.require(schema, schema.paths(id), caseSensitive = true).init
      .forall(_.fieldType.isInstanceOf[Type.StructType])

  /** These are strings and plain numbers in Spark, which hash and round otherwise. */
  private def isTheSameInSpark(source: PrimitiveType): Boolean = source match {
    case UuidType | TimestampNsType | TimestampTzNsType => false
    case _ => true
  }

  private def hasFunction(name: String, arguments: Int, source: PrimitiveType): Boolean = {
    val parameters = (1 until arguments).foldLeft(new StructType)((s, i) => s.add(s"parameter$i", IntegerType))
    val types = parameters.add("value", SparkTypes.toSpark(source))
    Functions.all.find(_.name == name).exists(function => Try(function.bind(types)).isSuccess)
  }
}
