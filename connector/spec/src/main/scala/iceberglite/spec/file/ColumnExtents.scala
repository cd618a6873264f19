package iceberglite.spec.file

import iceberglite.spec.expr.{ColumnRange, Term}
import iceberglite.spec.types.{Literal, NestedField}

/**
 * The information about the values of one column that the metrics of a file contain.
 *
 * @param mayBeNull whether there may be nulls
 * @param mayBeNan whether there may be NaNs
 * @param mayBeOrdinary whether there may be ordinary values, which are neither null nor NaN
 * @param lower a value that is at most the minimum of the ordinary values; absent if it is unknown
 * @param upper a value that is at least the maximum of the ordinary values; absent if it is unknown
 */
final case class ColumnExtent(
    mayBeNull: Boolean,
    mayBeNan: Boolean,
    mayBeOrdinary: Boolean,
    lower: Option[Literal],
    upper: Option[Literal]
)

/** Reads the extents of columns from the metrics of files. @param columns columns whose types have bounds */
final class ColumnExtents(columns: Vector[NestedField]) {
  private val ranges: Vector[ColumnRange[HasMetrics]] = columns.flatMap(f => FileRange.ordered(Term.Bound(f, f.name)))

  /** Returns the extents of a file, in the order of the columns. */
  def of(file: HasMetrics): Vector[ColumnExtent] = ranges.map { range =>
    ColumnExtent(
      range.mayBeNull(file),
      range.mayBeNan(file),
      range.mayBeOrdinary(file),
      range.lower(file),
      range.upper(file)
    )
  }
}

object ColumnExtents {

  /** Whether a column has a type whose bounds limit the values of the column. */
  def hasBounds(column: NestedField): Boolean = FileRange.ordered(Term.Bound(column, column.name)).isDefined
}
