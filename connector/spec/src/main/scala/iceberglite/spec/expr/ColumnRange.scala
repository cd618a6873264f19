package iceberglite.spec.expr

import java.nio.ByteBuffer

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
 * The range of the values of a term over a set of rows. `S` describes the set, such as by the metrics of a file.
 * Without information, any value is possible.
 */
private[iceberglite] trait ColumnRange[-S] {
  def mayBeNull(rows: S): Boolean

  def mayBeNan(rows: S): Boolean

  /** Whether there may be values other than null and NaN. */
  def mayBeOrdinary(rows: S): Boolean

  /** A value that is at most the minimum of the ordinary values. */
  def lower(rows: S): Option[Literal]

  /** A value that is at least the maximum of the ordinary values. */
  def upper(rows: S): Option[Literal]

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

/** Reads the bounds of a column of one type; unreliable bounds are ignored. */
final private[iceberglite] class Bounds(t: PrimitiveType) {
  val isFloating: Boolean = t == FloatType || t == DoubleType

  def lower(lower: Option[ByteBuffer], upper: => Option[ByteBuffer]): Option[Literal] =
    if (t == UuidType) orderedBounds(lower, upper).map(_._1) else read(lower)

  def upper(lower: => Option[ByteBuffer], upper: Option[ByteBuffer]): Option[Literal] =
    if (t == UuidType) orderedBounds(lower, upper).map(_._2) else read(upper)

  /** Reads a bound. NaN is not a bound (spec: `data_file`, note 2), but some writers wrote it. */
  private def read(bytes: Option[ByteBuffer]): Option[Literal] =
    bytes.flatMap(SingleValue.decodeValid(t, _)).filterNot(Evaluate.isNan)

  /**
   * Returns the bounds if they are in order. Some writers compare UUIDs as signed numbers, as Java does, so that their
   * lower bound may be greater than their upper bound.
   */
  private def orderedBounds(lower: Option[ByteBuffer], upper: Option[ByteBuffer]): Option[(Literal, Literal)] =
    for (low <- read(lower); high <- read(upper); if Literal.ordering.lteq(low, high)) yield (low, high)
}

private[iceberglite] object Bounds {

  /** Returns the bounds of a type; `None` if its bounds do not limit its values. */
  def of(t: PrimitiveType): Option[Bounds] = t match {
    case UnknownType | VariantType | _: GeometryType | _: GeographyType => None
    case _ => Some(new Bounds(t))
  }
}

/** The range of an order-preserving transform: the transforms of the bounds. */
final private[expr] class TransformedRange[S](transform: Transform, source: ColumnRange[S]) extends ColumnRange[S] {
  override def mayBeNull(rows: S): Boolean = source.mayBeNull(rows)
  override def mayBeNan(rows: S): Boolean = source.mayBeNan(rows)
  override def mayBeOrdinary(rows: S): Boolean = source.mayBeOrdinary(rows)
  override def lower(rows: S): Option[Literal] = bounds(rows).map(_._1)
  override def upper(rows: S): Option[Literal] = bounds(rows).map(_._2)

  /**
   * Returns the transforms of the bounds. A bound is ignored where the transform does not preserve the order: some
   * transforms wrap around at the ends of their range (see `Truncate`, `Hour`).
   */
  private def bounds(rows: S): Option[(Literal, Literal)] =
    for {
      low <- source.lower(rows)
      lower <- transform(low) if lower.getClass != low.getClass || Literal.ordering.lteq(lower, low)
      upper <- source.upper(rows).flatMap(transform(_)).filter(Literal.ordering.gteq(_, lower))
    } yield (lower, upper)
}

private[iceberglite] object ColumnRange {

  /** The result of a comparison with a missing bound. It differs from all other results. */
  val NoBound: Int = Int.MinValue

  /** Returns the range of a term, from the ranges of columns; `None` if the range is unknown. */
  def of[S](term: Term, column: Term.Bound => Option[ColumnRange[S]]): Option[ColumnRange[S]] = term match {
    case bound: Term.Bound => column(bound)
    case Term.Transformed(transform, inner) if transform.preservesOrder =>
      of(inner, column).map(new TransformedRange(transform, _))
    case _: Term.Transformed | _: Term.Named => None
  }
}
