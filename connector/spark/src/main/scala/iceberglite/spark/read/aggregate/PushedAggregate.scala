package iceberglite.spark.read.aggregate

import org.apache.spark.sql.connector.expressions.Expression
import org.apache.spark.sql.connector.expressions.aggregate.{AggregateFunc, Count, CountStar, Max, Min}

import iceberglite.spark.read.stats.{ColumnStatsByFile, StatisticsColumn}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.types.{Literal, PrimitiveType}
import iceberglite.spec.types.Type.LongType

/** An aggregate function of a query that metadata may answer. */
sealed private[aggregate] trait PushedAggregate {

  /** The SQL form, for EXPLAIN. */
  def name: String

  def valueType: PrimitiveType

  /** The column whose metrics are used. */
  def metricsColumn: Option[StatisticsColumn]

  /** Whether the result can be null: the minimum of no values is null, but a count is not. */
  def mayBeNull: Boolean

  /** Creates an empty tally for the files with one GROUP BY key. */
  def tally: Tally
}

private[aggregate] object PushedAggregate {

  /**
   * Returns the aggregate.
   *
   * @param column finds a column of the table
   * @return absent if metadata can never determine the aggregate
   */
  def of(
      function: AggregateFunc,
      metadata: TableMetadata,
      column: Expression => Option[StatisticsColumn]
  ): Option[PushedAggregate] = function match {
    case _: CountStar => Some(Rows)
    case count: Count if !count.isDistinct =>
      column(count.column).map(c => Values(c, new ColumnStatsByFile(c, metadata)))
    case min: Min => column(min.column).map(c => Minimum(c, new ColumnStatsByFile(c, metadata)))
    case max: Max => column(max.column).map(c => Maximum(c, new ColumnStatsByFile(c, metadata)))
    case _ => None
  }

  private case object Rows extends PushedAggregate {
    override def name: String = "count(*)"
    override def valueType: PrimitiveType = LongType
    override def metricsColumn: Option[StatisticsColumn] = None
    override def mayBeNull: Boolean = false
    override def tally: Tally = new RowTally
  }

  final private case class Values(column: StatisticsColumn, stats: ColumnStatsByFile) extends PushedAggregate {
    override def name: String = s"count(${column.name})"
    override def valueType: PrimitiveType = LongType
    override def metricsColumn: Option[StatisticsColumn] = Some(column)
    override def mayBeNull: Boolean = false
    override def tally: Tally = new ValueTally(stats)
  }

  final private case class Minimum(column: StatisticsColumn, stats: ColumnStatsByFile) extends PushedAggregate {
    override def name: String = s"min(${column.name})"
    override def valueType: PrimitiveType = column.fieldType
    override def metricsColumn: Option[StatisticsColumn] = Some(column)
    override def mayBeNull: Boolean = true
    override def tally: Tally = new ExtremeTally(stats, _.lower, Literal.ordering)
  }

  final private case class Maximum(column: StatisticsColumn, stats: ColumnStatsByFile) extends PushedAggregate {
    override def name: String = s"max(${column.name})"
    override def valueType: PrimitiveType = column.fieldType
    override def metricsColumn: Option[StatisticsColumn] = Some(column)
    override def mayBeNull: Boolean = true
    override def tally: Tally = new ExtremeTally(stats, _.upper, Literal.ordering.reverse)
  }
}
