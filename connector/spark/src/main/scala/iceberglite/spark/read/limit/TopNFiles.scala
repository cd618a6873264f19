package iceberglite.spark.read.limit

import iceberglite.scan.FileScanTask
import iceberglite.spark.read.stats.ColumnStats
import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.expr.Expression.{GreaterThanOrEqual, IsNull, LessThanOrEqual, and, or}
import iceberglite.spec.types.Literal

/**
 * Skips files whose bounds show that they contain none of the first rows in the requested sort order.
 *
 * This class finds a bound such that at least the requested number of rows have values up to the bound. It skips files
 * whose values are all beyond the bound. A file that may have values equal to the bound is read, because further sort
 * columns may order equal rows. The bound becomes part of the residual filter of the remaining files, so that parts of
 * these files are skipped too.
 *
 * @param rows the number of requested rows. All rows of the files are candidates, because Spark applies no filter to
 *   these rows
 */
final private[limit] class TopNFiles(order: RowOrder, rows: Long) {

  /** The order of the values in the requested sort order. */
  private val ordering: Ordering[Literal] =
    if (order.isAscending) Literal.ordering else Literal.ordering.reverse

  private def nearest(stats: ColumnStats): Option[Literal] = if (order.isAscending) stats.lower else stats.upper

  private def farthest(stats: ColumnStats): Option[Literal] = if (order.isAscending) stats.upper else stats.lower

  def of(tasks: Vector[FileScanTask]): Vector[FileScanTask] = {
    val statsOf = order.stats
    val stats = tasks.map(statsOf)
    val minNullCount = stats.iterator.map(_.minNullCount).sum
    val cutoff =
      if (order.nullsFirst && minNullCount >= rows) Some(AmongNulls) else cutoffAmongValues(stats, minNullCount)
    cutoff.fold(tasks) { end =>
      tasks.zip(stats).collect {
        case (task, f) if end.mayContain(f) =>
          task.copy(residual = and(task.residual, end.condition))
      }
    }
  }

  /**
   * Returns the bound up to which the files have at least the requested number of rows; absent if the files may have
   * fewer rows.
   */
  private def cutoffAmongValues(stats: Vector[ColumnStats], minNullCount: Long): Option[Cutoff] = {
    var minRowCount = if (order.nullsFirst) minNullCount else 0L
    stats.flatMap(f => farthest(f).map(_ -> f.minValueCount)).sortBy(_._1)(ordering).iterator
      .find { case (_, values) =>
        minRowCount += values
        minRowCount >= rows
      }
      .map { case (bound, _) => new UpTo(bound) }
  }

  /** The position in the sort order after which no more rows are needed. */
  sealed private trait Cutoff {

    /** The condition that requested rows satisfy. */
    def condition: Expression

    /** Whether a file may contain a row that satisfies [[condition]]. */
    def mayContain(stats: ColumnStats): Boolean
  }

  /** All requested rows have null, because nulls are first and there are at least as many nulls as requested rows. */
  private object AmongNulls extends Cutoff {
    override val condition: Expression = IsNull(term)
    override def mayContain(stats: ColumnStats): Boolean = stats.mayBeNull
  }

  /** The requested rows have values up to a bound, or null if nulls are first. */
  final private class UpTo(bound: Literal) extends Cutoff {
    override val condition: Expression = {
      val values = if (order.isAscending) LessThanOrEqual(term, bound) else GreaterThanOrEqual(term, bound)
      if (order.nullsFirst) or(IsNull(term), values) else values
    }

    override def mayContain(stats: ColumnStats): Boolean =
      order.nullsFirst && stats.mayBeNull || !stats.hasNoValue && nearest(stats).forall(ordering.lteq(_, bound))
  }

  private def term: Term = Term.Bound(order.column.field, order.column.name)
}
