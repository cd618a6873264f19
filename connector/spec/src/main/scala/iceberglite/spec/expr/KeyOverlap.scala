package iceberglite.spec.expr

import iceberglite.spec.{ContentFile, Literal, NestedField}

/**
 * Whether a row of one file may equal a row of another in all of some columns, where null equals null, by the counts and
 * bounds of the two files: what keeps equality delete files from data that they cannot touch (spec: "Equality Delete
 * Files", "Scan Planning").
 *
 * @param columns top-level columns of primitive types. Writers do not agree on what counts as a null of a nested one
 */
final class KeyOverlap(columns: Vector[NestedField]) {
  private val ranges: Array[ColumnRange[ContentFile]] =
    columns.flatMap(f => FileRange.of(Term.Bound(f, f.name))).toArray

  /** What is known of the keys of a file; worked out once, to be compared often. */
  def keysOf(file: ContentFile): KeyRanges = new KeyRanges(ranges.map { r =>
    new KeyRange(r.mayBeNull(file), r.mayBePresent(file), r.lower(file), r.upper(file))
  })
}

final class KeyRanges private[expr] (private val columns: Array[KeyRange]) {

  /** False only if no row of the one file has the keys of a row of the other. Both are of the same [[KeyOverlap]]. */
  def mayMeet(that: KeyRanges): Boolean = {
    var i = 0
    while (i < columns.length && columns(i).mayMeet(that.columns(i))) i += 1
    i == columns.length
  }
}

final private[expr] class KeyRange(
    private val mayBeNull: Boolean,
    private val mayBePresent: Boolean,
    private val lower: Option[Literal],
    private val upper: Option[Literal]
) {
  def mayMeet(that: KeyRange): Boolean =
    mayBeNull && that.mayBeNull ||
      mayBePresent && that.mayBePresent && !isBefore(upper, that.lower) && !isBefore(that.upper, lower)

  private def isBefore(end: Option[Literal], start: Option[Literal]): Boolean =
    end.exists(e => start.exists(Literal.ordering.lt(e, _)))
}
