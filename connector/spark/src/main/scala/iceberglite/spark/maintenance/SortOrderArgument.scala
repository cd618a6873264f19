package iceberglite.spark.maintenance

import java.util.Locale

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.{Ascending, NullsFirst, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Sort}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.conf.TimeTravel
import iceberglite.spark.convert.TransformCall
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.partition.{NullOrder, SortDirection, UnboundField, UnboundSortField}
import iceberglite.table.Table

/** The terms of the argument `sort_order`. They are checked even if no file needs to be rewritten. */
private[maintenance] object SortOrderArgument {

  /**
   * The names of transforms that are not names of Spark functions. Other names of transforms, such as `month`, are also
   * names of Spark functions, whose results differ from those of the transform.
   */
  private val transforms = Set("bucket", "truncate", "years", "months", "days", "hours", "date_hour")

  /**
   * Returns a function that converts the terms to sort orders for the columns of a plan.
   *
   * @param orders the terms of the argument, as Spark has parsed them
   *
   * @throws org.apache.spark.sql.AnalysisException if a column does not exist, or its values cannot be sorted
   * @throws InvalidArgument if a transform is invalid
   */
  def of(session: SparkSession, table: Table, orders: Seq[SortOrder]): LogicalPlan => Seq[SortOrder] = {
    val parts = orders.map { order =>
      order.child match {
        case function: UnresolvedFunction if isTransform(function) =>
          byTransform(table, order, function, session.sessionState.conf.caseSensitiveAnalysis)
        case _ =>
          resolved(session, table, Seq(order))
          (_: LogicalPlan) => Seq(order)
      }
    }
    rows => parts.flatMap(_(rows))
  }

  /** Resolves sort orders on the columns of the table. */
  def resolved(session: SparkSession, table: Table, orders: Seq[SortOrder]): Seq[SortOrder] = {
    val source = new SparkTable(() => table, TimeTravel.Latest)
    val relation = DataSourceV2Relation.create(source, None, None, CaseInsensitiveStringMap.empty)
    session.sessionState.executePlan(Sort(orders, global = true, relation)).analyzed.collectFirst {
      case Sort(found, _, _) => found
    }.getOrElse(orders)
  }

  private def isTransform(function: UnresolvedFunction): Boolean = function.nameParts match {
    case Seq(name) => transforms(name.toLowerCase(Locale.ROOT))
    case _ => false
  }

  private def byTransform(
      table: Table,
      order: SortOrder,
      function: UnresolvedFunction,
      caseSensitive: Boolean
  ): LogicalPlan => Seq[SortOrder] = {
    def reject(reason: String): Nothing = throw InvalidArgument("argument sort_order", function.sql, reason)
    val term = TransformCall.term(function)(reject)
    val direction = if (order.direction == Ascending) SortDirection.Ascending else SortDirection.Descending
    val nulls = if (order.nullOrdering == NullsFirst) NullOrder.NullsFirst else NullOrder.NullsLast
    val field = UnboundSortField(term.source, term.transform, direction, nulls)
    RewriteSortOrders.of(table.schema, UnboundField.sortOrder(table.schema, Vector(field), caseSensitive))
      .getOrElse(reject("Spark cannot compute this transform of the column"))
  }
}
