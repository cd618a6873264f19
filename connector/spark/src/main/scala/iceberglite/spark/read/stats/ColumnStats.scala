package iceberglite.spark.read.stats

import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal.{DoubleLiteral, FloatLiteral}

/**
 * The statistics of a column in one file, from metadata. The statistics include deleted rows of the file. NaN counts as
 * a value, and is greater than all other values.
 *
 * @param nulls the number of nulls, if known
 * @param lower a lower bound of the values, if known
 * @param upper an upper bound of the values, if known
 * @param boundsAreValues whether the bounds are values of rows of the file
 */
final private[read] case class ColumnStats(
    rows: FileRowCount,
    nulls: Option[Long],
    lower: Option[Literal],
    upper: Option[Literal],
    boundsAreValues: Boolean
) {

  /** Whether every remaining row has null. */
  def hasNoValue: Boolean = rows.exactCount.contains(0L) || nulls.contains(rows.total)

  def mayBeNull: Boolean = !nulls.contains(0L)

  /** Returns the minimum number of remaining rows with a value. */
  def minValueCount: Long = nulls.fold(0L)(n => rows.minCountOf(rows.total - n))

  /** Returns the minimum number of remaining rows with null. */
  def minNullCount: Long = nulls.fold(0L)(rows.minCountOf)

  /** Returns the number of remaining rows with a value, if metadata determines this number. */
  def valueCount: Option[Long] =
    if (hasNoValue) Some(0L)
    else if (rows.hasNoDeletedRow && rows.total >= 0) nulls.map(rows.total - _)
    else if (!mayBeNull) rows.exactCount
    else None

  /** Whether it is certain that a remaining row has this bound as its value. */
  def isLiveValue(bound: Literal): Boolean =
    !ColumnStats.isZero(bound) &&
      (if (rows.hasNoDeletedRow) boundsAreValues || isConstant else isConstant && minValueCount > 0)

  private def isConstant: Boolean = lower.exists(low => upper.exists(Literal.ordering.equiv(low, _)))
}

private[read] object ColumnStats {
  def unknown(rows: FileRowCount): ColumnStats = ColumnStats(rows, None, None, None, boundsAreValues = false)

  def ofNull(rows: FileRowCount): ColumnStats = ColumnStats(rows, Some(rows.total), None, None, boundsAreValues = false)

  def constant(rows: FileRowCount, value: Literal): ColumnStats =
    ColumnStats(rows, Some(0L), Some(value), Some(value), boundsAreValues = true)

  /**
   * Whether a value is zero. A bound may be 0.0 although the value in the row is -0.0, or the reverse, because bounds
   * do not always keep the sign of a zero.
   */
  private def isZero(value: Literal): Boolean = value match {
    case FloatLiteral(v) => v == 0.0f
    case DoubleLiteral(v) => v == 0.0
    case _ => false
  }
}
