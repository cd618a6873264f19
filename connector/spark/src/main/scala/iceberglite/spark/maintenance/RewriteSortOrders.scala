package iceberglite.spark.maintenance

import org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException
import org.apache.spark.sql.catalyst.expressions.{
  Expression,
  Literal,
  SortOrder,
  TransformExpression,
  V2ExpressionUtils
}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.catalog.{FunctionCatalog, Identifier}
import org.apache.spark.sql.connector.catalog.functions.{ScalarFunction, UnboundFunction}
import org.apache.spark.sql.connector.expressions.{
  Expressions,
  NullOrdering,
  SortDirection,
  SortOrder => SparkSortOrder
}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.function.Functions
import iceberglite.spark.write.RowRequirements
import iceberglite.spec.partition.{PartitionSpec, SortOrder => TableSortOrder}
import iceberglite.spec.property.DistributionMode
import iceberglite.spec.schema.Schema

/** Creates Spark's sort orders from partition specs and from the sort orders of tables. */
private[maintenance] object RewriteSortOrders {

  /** Returns whether a partition spec has a field whose transform Spark can compute. */
  def hasTerms(schema: Schema, spec: PartitionSpec): Boolean =
    requirements(schema, spec, TableSortOrder.Unsorted).partitions.nonEmpty

  /**
   * Returns the sort order by the fields of a partition spec, without the fields whose transforms Spark cannot compute.
   *
   * @param rows the plan whose output contains the source columns
   */
  def of(schema: Schema, spec: PartitionSpec, rows: LogicalPlan): Seq[SortOrder] = {
    val terms = requirements(schema, spec, TableSortOrder.Unsorted).partitions
    resolve(terms.map(Expressions.sort(_, SortDirection.ASCENDING, NullOrdering.NULLS_FIRST)), rows)
  }

  /**
   * Returns a function from a plan with the source columns to Spark's form of a table's sort order; absent if Spark
   * cannot compute one of the order's transforms.
   */
  def of(schema: Schema, order: TableSortOrder): Option[LogicalPlan => Seq[SortOrder]] = {
    val required = requirements(schema, PartitionSpec.Unpartitioned, order)
    if (required.sorted) Some(resolve(required.ordering.toSeq, _)) else None
  }

  private def requirements(schema: Schema, spec: PartitionSpec, order: TableSortOrder): RowRequirements =
    RowRequirements.of(schema, spec, order, Some(DistributionMode.NoDistribution), fanout = true)

  private def resolve(orders: Seq[SparkSortOrder], rows: LogicalPlan): Seq[SortOrder] =
    V2ExpressionUtils.toCatalystOrdering(orders.toArray, rows, Some(TransformFunctions))
      .map(order => order.copy(child = order.child.transform(evaluable)))

  /** Replaces transforms by calls of their functions, as Spark does when it plans a write. */
  private val evaluable: PartialFunction[Expression, Expression] = {
    case TransformExpression(function: ScalarFunction[_], arguments, number) =>
      val numbers = number.map(Literal(_)).toSeq
      V2ExpressionUtils.resolveScalarFunction(function, numbers ++ arguments)
  }

  /** Looks up the functions of transforms. It does not require a catalog of the session. */
  private object TransformFunctions extends FunctionCatalog {
    override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = ()

    override def name: String = "transforms"

    override def listFunctions(namespace: Array[String]): Array[Identifier] =
      Functions.inPlans.map(function => Identifier.of(namespace, function.name)).toArray

    override def loadFunction(ident: Identifier): UnboundFunction =
      Functions.inPlans.find(_.name == ident.name).getOrElse(throw new NoSuchFunctionException(ident))
  }
}
