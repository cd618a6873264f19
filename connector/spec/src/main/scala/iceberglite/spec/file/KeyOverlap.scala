package iceberglite.spec.file

import iceberglite.spec.expr.{ColumnRange, Term}
import iceberglite.spec.types.{Literal, NestedField}

/**
 * Determines from the counts and bounds of two files whether they may contain rows with equal values in all `columns`.
 * Null equals null. The result is used to ignore equality delete files that cannot delete a row of a data file (spec:
 * "Equality Delete Files", "Scan Planning").
 *
 * @param columns top-level columns of primitive types. Nested columns are not supported, because writers count the
 *   nulls of nested columns in different ways
 */
final class KeyOverlap(columns: Vector[NestedField]) {
  private val ranges: Array[ColumnRange[ContentFile]] =
    columns.flatMap(f => FileRange.of(Term.Bound(f, f.name))).toArray

  /** Returns the key ranges of a file, computed once for many comparisons. */
  def keysOf(file: ContentFile): KeyRanges = new KeyRanges(ranges.map { r =>
    new KeyRange(r.mayBeNull(file), r.mayBePresent(file), r.lower(file), r.upper(file))
  })
}

final class KeyRanges private[iceberglite] (private val columns: Array[KeyRange]) {

  /**
   * Returns false only if no row of one file has the same key as a row of the other file. Both [[KeyRanges]] must come
   * from the same [[KeyOverlap]].
   */
  def mayOverlap(that: KeyRanges): Boolean = {
    var i = 0
    while (i < columns.length && columns(i).mayOverlap(that.columns(i))) i += 1
    i == columns.length
  }
}

final private[iceberglite] class KeyRange(
    private val mayBeNull: Boolean,
    private val mayBePresent: Boolean,
    private val lower: Option[Literal],
    private val upper: Option[Literal]
) {
  def mayOverlap(that: KeyRange): Boolean =
    mayBeNull && that.mayBeNull ||
      mayBePresent && that.mayBePresent && !isBefore(upper, that.lower) && !isBefore(that.upper, lower)

  private def isBefore(end: Option[Literal], start: Option[Literal]): Boolean =
    end.exists(e => start.exists(Literal.ordering.lt(e, _)))
}
