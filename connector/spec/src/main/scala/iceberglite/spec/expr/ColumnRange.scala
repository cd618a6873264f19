package iceberglite.spec.expr

import java.nio.ByteBuffer

import iceberglite.spec.geo.BoundingBox
import iceberglite.spec.partition.Transform
import iceberglite.spec.types.{Literal, PrimitiveType, SingleValue}
import iceberglite.spec.types.Type.{
  DoubleType,
  FloatType,
  GeographyType,
  GeometryType,
  UnknownType,
  UuidType,
  VariantType
}

/**
 * The range of the values of a term in a set of rows. `S` is the type that describes the set, for example the metrics
 * of a file. If the description has no information about the term, every value is possible.
 */
private[iceberglite] trait ColumnRange[-S] {
  def mayBeNull(rows: S): Boolean

  def mayBeNan(rows: S): Boolean

  /** Whether there may be ordinary values, which are all values other than null and NaN. */
  def mayBeOrdinary(rows: S): Boolean

  /** A value that is at most the minimum of the ordinary values. */
  def lower(rows: S): Option[Literal]

  /** A value that is at least the maximum of the ordinary values. */
  def upper(rows: S): Option[Literal]

  /** A box that contains the coordinates of all geometries; absent if it is unknown. */
  def box: S => Option[BoundingBox] = ColumnRange.NoBox

  /**
   * Whether rows may contain an ordinary value of the term's type, according to information other than the bounds, such
   * as a Bloom filter.
   */
  def mayContain: (S, Literal) => Boolean = ColumnRange.AnyValue

  /**
   * Returns the range of a part of the variants of this column; absent if the column has another type. The arguments
   * are the names of the fields that lead to the part, and the type to which the part is cast.
   */
  def part: (Vector[String], PrimitiveType) => Option[ColumnRange[S]] = ColumnRange.NoPart

  final def mayBePresent(rows: S): Boolean = mayBeOrdinary(rows) || mayBeNan(rows)

  /** Compares the lower bound to a value; [[ColumnRange.NoBound]] if there is no lower bound. */
  def compareLower(rows: S, to: Comparand): Int = lower(rows) match {
    case Some(bound) => to.compare(bound)
    case None => ColumnRange.NoBound
  }

  /** Compares the upper bound to a value; [[ColumnRange.NoBound]] if there is no upper bound. */
  def compareUpper(rows: S, to: Comparand): Int = upper(rows) match {
    case Some(bound) => to.compare(bound)
    case None => ColumnRange.NoBound
  }
}

/** Decodes the bounds of columns that have one type. Unreliable bounds are ignored. */
final private[iceberglite] class BoundDecoder(t: PrimitiveType) {
  val isFloating: Boolean = t == FloatType || t == DoubleType

  def lower(lower: Option[ByteBuffer], upper: => Option[ByteBuffer]): Option[Literal] =
    if (t == UuidType) orderedBounds(lower, upper).map(_._1) else read(lower)

  def upper(lower: => Option[ByteBuffer], upper: Option[ByteBuffer]): Option[Literal] =
    if (t == UuidType) orderedBounds(lower, upper).map(_._2) else read(upper)

  /**
   * Decodes a bound. A bound that is NaN is ignored: it is not valid (spec: `data_file`, note 2), but some writers
   * wrote it.
   */
  private def read(bytes: Option[ByteBuffer]): Option[Literal] =
    bytes.flatMap(SingleValue.decodeValid(t, _)).filterNot(Evaluate.isNan)

  /**
   * Returns the bounds if the lower bound is not greater than the upper bound. Some writers compare UUIDs as signed
   * numbers, as Java does. Therefore a lower bound in their files may be greater than the upper bound.
   */
  private def orderedBounds(lower: Option[ByteBuffer], upper: Option[ByteBuffer]): Option[(Literal, Literal)] =
    for (low <- read(lower); high <- read(upper); if Literal.ordering.lteq(low, high)) yield (low, high)
}

private[iceberglite] object BoundDecoder {

  /** Returns the decoder for the bounds of a type; `None` if bounds of the type do not limit the column's values. */
  def of(t: PrimitiveType): Option[BoundDecoder] = t match {
    case UnknownType | VariantType | _: GeometryType | _: GeographyType => None
    case _ => Some(new BoundDecoder(t))
  }
}

/**
 * The range of the values of an order-preserving transform. Its bounds are computed by applying the transform to the
 * bounds of the source column.
 */
final private[expr] class TransformedRange[S](transform: Transform, source: ColumnRange[S]) extends ColumnRange[S] {
  override def mayBeNull(rows: S): Boolean = source.mayBeNull(rows)
  override def mayBeNan(rows: S): Boolean = source.mayBeNan(rows)
  override def mayBeOrdinary(rows: S): Boolean = source.mayBeOrdinary(rows)
  override def lower(rows: S): Option[Literal] = bounds(rows).map(_._1)
  override def upper(rows: S): Option[Literal] = bounds(rows).map(_._2)

  /**
   * Applies the transform to the bounds. Some transforms wrap around at the ends of their range (see `Truncate`,
   * `Hour`). Therefore, bounds for which the transform does not preserve the order are ignored.
   */
  private def bounds(rows: S): Option[(Literal, Literal)] =
    for {
      low <- source.lower(rows)
      lower <- transform(low) if lower.getClass != low.getClass || Literal.ordering.lteq(lower, low)
      upper <- source.upper(rows).flatMap(transform(_)).filter(Literal.ordering.gteq(_, lower))
    } yield (lower, upper)
}

private[iceberglite] object ColumnRange {
  private val AnyValue: (Any, Any) => Boolean = (_, _) => true
  private val NoPart: (Any, Any) => Option[Nothing] = (_, _) => None
  private val NoBox: Any => Option[BoundingBox] = _ => None

  /** The result of a comparison with a missing bound. It differs from all other results. */
  val NoBound: Int = Int.MinValue

  /**
   * Returns the range of a term. `None` means that the range is unknown.
   *
   * @param column returns the range of a column
   */
  def of[S](term: Term, column: Term.Bound => Option[ColumnRange[S]]): Option[ColumnRange[S]] = term match {
    case bound: Term.Bound => column(bound)
    case Term.Transformed(transform, inner) if transform.preservesOrder =>
      of(inner, column).map(new TransformedRange(transform, _))
    case Term.Part(inner, path, t) => of(inner, column).flatMap(_.part(path, t))
    case _: Term.Transformed | _: Term.Named => None
  }
}
