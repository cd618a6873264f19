package iceberglite.io

import iceberglite.spec.Literal
import iceberglite.spec.Literal.{DoubleLiteral, FloatLiteral}

/**
 * What a writer has seen in a column of floating point numbers. The statistics of the formats do not tell: a NaN spoils
 * the bounds of Parquet, and its sign that of a zero (spec: `data_file`, note 2).
 *
 * @param bounds the least and the greatest value but NaN, -0.0 before 0.0; absent where there are only NaNs and nulls
 */
final case class FloatingValues(nanCount: Long, bounds: Option[(Literal, Literal)])

/** Collects [[FloatingValues]] of floats. */
final class FloatRange {
  private var nans = 0L
  private var least = Float.PositiveInfinity
  private var greatest = Float.NegativeInfinity

  def add(value: Float): Unit =
    if (value != value) nans += 1
    else {
      if (value <= least && (value < least || isNegativeZero(value))) least = value
      if (value >= greatest && (value > greatest || isNegativeZero(greatest))) greatest = value
    }

  private def isNegativeZero(value: Float): Boolean = java.lang.Float.floatToRawIntBits(value) == Int.MinValue

  def values: FloatingValues =
    FloatingValues(nans, if (least <= greatest) Some((FloatLiteral(least), FloatLiteral(greatest))) else None)
}

/** Collects [[FloatingValues]] of doubles. */
final class DoubleRange {
  private var nans = 0L
  private var least = Double.PositiveInfinity
  private var greatest = Double.NegativeInfinity

  def add(value: Double): Unit =
    if (value != value) nans += 1
    else {
      if (value <= least && (value < least || isNegativeZero(value))) least = value
      if (value >= greatest && (value > greatest || isNegativeZero(greatest))) greatest = value
    }

  private def isNegativeZero(value: Double): Boolean = java.lang.Double.doubleToRawLongBits(value) == Long.MinValue

  def values: FloatingValues =
    FloatingValues(nans, if (least <= greatest) Some((DoubleLiteral(least), DoubleLiteral(greatest))) else None)
}
