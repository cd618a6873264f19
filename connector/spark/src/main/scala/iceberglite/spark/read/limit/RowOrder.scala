package iceberglite.spark.read.limit

import org.apache.spark.sql.connector.expressions.{NullOrdering, SortDirection, SortOrder}

import iceberglite.spark.read.stats.{ColumnStatsByFile, StatisticsColumn}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.Schema

/**
 * The first column of the requested sort order. Further columns may order the rows that have equal values in this
 * column.
 */
final private[read] case class RowOrder(column: StatisticsColumn, isAscending: Boolean, nullsFirst: Boolean)(
    metadata: TableMetadata
) {
  def stats: ColumnStatsByFile = new ColumnStatsByFile(column, metadata)

  override def toString: String = {
    val direction = if (isAscending) "" else " DESC"
    val nulls = if (nullsFirst == isAscending) "" else if (nullsFirst) " NULLS FIRST" else " NULLS LAST"
    s"${column.name}$direction$nulls"
  }
}

private[read] object RowOrder {

  /** Returns the first column of a sort order; absent if the first expression is not a column of the table. */
  def of(
      orders: Array[SortOrder],
      schema: Schema,
      metadata: TableMetadata,
      caseSensitive: Boolean
  ): Option[RowOrder] =
    for {
      first <- orders.headOption
      column <- StatisticsColumn.of(first.expression, schema, caseSensitive)
    } yield RowOrder(
      column,
      first.direction == SortDirection.ASCENDING,
      first.nullOrdering == NullOrdering.NULLS_FIRST
    )(metadata)
}
