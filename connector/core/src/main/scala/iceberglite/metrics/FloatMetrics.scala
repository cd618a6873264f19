package iceberglite.metrics

import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal.{DoubleLiteral, FloatLiteral}

/**
 * Metrics that a writer collected for a column, because the statistics in the footers of data files are not sufficient.
 * In a floating point column, a NaN invalidates the bounds in Parquet, and the statistics may lose the sign of zero
 * (spec: `data_file`, note 2). In a column of geometries, the statistics are not ranges of coordinates.
 *
 * @param nans the number of NaNs; absent if the column is not a floating point column
 * @param bounds the minimum and the maximum without NaN, where -0.0 sorts before 0.0; absent if all values are NaN or
 *   null
 */
final case class CollectedValues(nans: Option[Long], bounds: Option[(Literal, Literal)])

/** Collects [[CollectedValues]] of a float column. */
final class FloatCollector {
  private var nans = 0L
  private var minimum = Float.PositiveInfinity
  private var maximum = Float.NegativeInfinity

  def add(value: Float): Unit =
    if (value != value) nans += 1
    else {
      if (value <= minimum && (value < minimum || isNegativeZero(value))) minimum = value
      if (value >= maximum && (value > maximum || isNegativeZero(maximum))) maximum = value
    }

  private def isNegativeZero(value: Float): Boolean = java.lang.Float.floatToRawIntBits(value) == Int.MinValue

  def nanCount: Long = nans

  def values: CollectedValues =
    CollectedValues(Some(nans), if (minimum <= maximum) Some((FloatLiteral(minimum), FloatLiteral(maximum))) else None)
}

/** Collects [[CollectedValues]] of a double column. */
final class DoubleCollector {
  private var nans = 0L
  private var minimum = Double.PositiveInfinity
  private var maximum = Double.NegativeInfinity

  def add(value: Double): Unit =
    if (value != value) nans += 1
    else {
      if (value <= minimum && (value < minimum || isNegativeZero(value))) minimum = value
      if (value >= maximum && (value > maximum || isNegativeZero(maximum))) maximum = value
    }

  private def isNegativeZero(value: Double): Boolean = java.lang.Double.doubleToRawLongBits(value) == Long.MinValue

  def nanCount: Long = nans

  def values: CollectedValues =
    CollectedValues(
      Some(nans),
      if (minimum <= maximum) Some((DoubleLiteral(minimum), DoubleLiteral(maximum))) else None
    )
}
