package iceberglite.spec.file

import iceberglite.spec.expr.{BoundDecoder, ColumnRange, Comparand, Expression, RangeEvaluator, Term}
import iceberglite.spec.geo.BoundingBox
import iceberglite.spec.types.{Literal, NestedType, PrimitiveType}
import iceberglite.spec.types.Type._

/**
 * Determines whether a file may contain a row that matches a filter, from the counts and bounds of the file. The filter
 * is compiled only once.
 *
 * @param variants reads the bounds of variants; absent if tests of their parts exclude no file
 */
final class InclusiveMetrics(bound: Expression, variants: Option[VariantBounds] = None) {
  private val test: HasMetrics => Boolean = variants match {
    case Some(reader) if bound.testsVariants =>
      val ofBounds = RangeEvaluator.mightMatch[FileBounds](bound, VariantRange.withParts)
      rows => ofBounds(new FileBounds(rows, reader))
    case Some(_) => RangeEvaluator.mightMatch[HasMetrics](bound, VariantRange.withCounts)
    case None => RangeEvaluator.mightMatch[HasMetrics](bound, FileRange.of)
  }

  /** Returns false only if no row of the file can match. A negative record count means that the count is unknown. */
  def mightMatch(f: HasMetrics): Boolean = f.recordCount != 0 && test(f)
}

/**
 * Determines whether all rows of a file match a filter, from the counts and bounds of the file. The filter is compiled
 * only once.
 */
final class StrictMetrics(bound: Expression) {
  private val test: HasMetrics => Boolean = RangeEvaluator.allMatch[HasMetrics](bound, FileRange.of)

  /** Returns true only if every row of the file matches. The result is always true for a file without rows. */
  def allMatch(f: HasMetrics): Boolean = f.recordCount == 0 || test(f)
}

/**
 * The range of a column of integers, dates or times in a file. The bounds are compared as numbers, without creating
 * literals.
 *
 * @param width the width of a bound of the current type, in bytes; a bound with another width was written before the
 *   type of the column was promoted, and is decoded as a literal
 */
final private class NumberRange(id: Int, width: Int, bounds: BoundDecoder) extends FileRange(id, bounds) {
  override def compareLower(rows: HasMetrics, to: Comparand): Int = {
    val bound = rows.metrics.lowerNumber(id, width)
    if (bound == Long.MinValue) super.compareLower(rows, to) else to.compareNumber(bound)
  }

  override def compareUpper(rows: HasMetrics, to: Comparand): Int = {
    val bound = rows.metrics.upperNumber(id, width)
    if (bound == Long.MaxValue) super.compareUpper(rows, to) else to.compareNumber(bound)
  }
}

/**
 * The range of one column in a file. The counts of a column within structs include null structs as nulls, except in ORC
 * files that Apache Iceberg wrote, where the counts omit the rows of null structs. Filters cannot refer to columns
 * within lists and maps.
 */
private class FileRange(id: Int, bounds: BoundDecoder) extends ColumnRange[HasMetrics] {
  private val Unknown = -1L

  override def mayBeNull(rows: HasMetrics): Boolean =
    !rows.metrics.nullValueCount(id).contains(0L) || rows.metrics.valueCount(id).exists(_ < rows.recordCount)

  override def mayBeNan(rows: HasMetrics): Boolean =
    bounds.isFloating && !rows.metrics.nanValueCount(id).contains(0L) && presentCount(rows) != 0

  override def mayBeOrdinary(rows: HasMetrics): Boolean = {
    val count = presentCount(rows)
    count == Unknown || count > 0 && (!bounds.isFloating || rows.metrics.nanValueCount(id).forall(_ < count))
  }

  override def lower(rows: HasMetrics): Option[Literal] =
    bounds.lower(rows.metrics.lowerBound(id), rows.metrics.upperBound(id))

  override def upper(rows: HasMetrics): Option[Literal] =
    bounds.upper(rows.metrics.lowerBound(id), rows.metrics.upperBound(id))

  /** Returns the number of values that are not null; [[Unknown]] if the metrics do not contain the counts. */
  private def presentCount(rows: HasMetrics): Long = {
    val metrics = rows.metrics
    (metrics.valueCount(id), metrics.nullValueCount(id)) match {
      // This method is called only for files that may have rows. Therefore the value count 0 means that the values of
      // the column were not counted.
      case (Some(values), Some(nulls)) if values > 0 => math.max(0L, values - nulls)
      case _ => Unknown
    }
  }
}

/** The range of a column of type geometry or geography. Its values have no order, but their coordinates have bounds. */
final private class SpatialRange(id: Int, t: PrimitiveType) extends FileRange(id, new BoundDecoder(t)) {
  private val isGeography = t.isInstanceOf[GeographyType]

  override def lower(rows: HasMetrics): Option[Literal] = None

  override def upper(rows: HasMetrics): Option[Literal] = None

  override def box: HasMetrics => Option[BoundingBox] = rows =>
    BoundingBox.ofBounds(rows.metrics.lowerBound(id), rows.metrics.upperBound(id), isGeography)
}

private object FileRange {

  /** Returns the range of a column; absent if metrics do not limit the values of the column's type. */
  def of(term: Term.Bound): Option[ColumnRange[HasMetrics]] = term.field.fieldType match {
    case t: GeometryType => Some(new SpatialRange(term.field.id, t))
    case t: GeographyType => Some(new SpatialRange(term.field.id, t))
    case _ => ordered(term)
  }

  /** Returns the range of a column whose values are ordered. */
  def ordered(term: Term.Bound): Option[ColumnRange[HasMetrics]] = term.field.fieldType match {
    case t: PrimitiveType => BoundDecoder.of(t).map { bounds =>
        width(t).fold(new FileRange(term.field.id, bounds))(new NumberRange(term.field.id, _, bounds))
      }
    case _: NestedType => None
  }

  /** Returns the width of the bounds of a type in bytes, if the bounds are integers (spec: "Appendix D"). */
  private def width(t: PrimitiveType): Option[Int] = t match {
    case IntType | DateType => Some(4)
    case LongType | TimeType | TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType => Some(8)
    case _ => None
  }
}
