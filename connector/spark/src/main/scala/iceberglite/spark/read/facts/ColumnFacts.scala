package iceberglite.spark.read.facts

import iceberglite.spec.Literal
import iceberglite.spec.Literal.{DoubleLiteral, FloatLiteral}

/**
 * What metadata says of the values of a column in one file, in all of its rows, deleted ones too. NaN is a value, and
 * greater than all others.
 *
 * @param nulls how many there are, if that is known
 * @param lower no value is less
 * @param upper no value is greater
 * @param areValues whether the bounds are values themselves and not only near them
 */
final private[read] case class ColumnFacts(
    rows: RowCount,
    nulls: Option[Long],
    lower: Option[Literal],
    upper: Option[Literal],
    areValues: Boolean
) {

  /** Whether no row that is left has a value. */
  def hasNoValue: Boolean = rows.exactly.contains(0L) || nulls.contains(rows.total)

  def mayBeNull: Boolean = !nulls.contains(0L)

  /** So many rows that are left have a value, or more. */
  def valuesAtLeast: Long = nulls.fold(0L)(n => rows.atLeastOf(rows.total - n))

  /** So many rows that are left are null, or more. */
  def nullsAtLeast: Long = nulls.fold(0L)(rows.atLeastOf)

  /** How many rows that are left have a value, where that is certain. */
  def values: Option[Long] =
    if (hasNoValue) Some(0L)
    else if (rows.isWhole && rows.total >= 0) nulls.map(rows.total - _)
    else if (!mayBeNull) rows.exactly
    else None

  /** Whether a row that is left has this bound for its value. */
  def isTaken(bound: Literal): Boolean =
    !ColumnFacts.isZero(bound) && (if (rows.isWhole) areValues || isSingle else isSingle && valuesAtLeast > 0)

  private def isSingle: Boolean = lower.exists(low => upper.exists(Literal.ordering.equiv(low, _)))
}

private[read] object ColumnFacts {
  def unknown(rows: RowCount): ColumnFacts = ColumnFacts(rows, None, None, None, areValues = false)

  def ofNull(rows: RowCount): ColumnFacts = ColumnFacts(rows, Some(rows.total), None, None, areValues = false)

  def constant(rows: RowCount, value: Literal): ColumnFacts =
    ColumnFacts(rows, Some(0L), Some(value), Some(value), areValues = true)

  /** Bounds do not always keep the sign of a zero. */
  private def isZero(value: Literal): Boolean = value match {
    case FloatLiteral(v) => v == 0.0f
    case DoubleLiteral(v) => v == 0.0
    case _ => false
  }
}
