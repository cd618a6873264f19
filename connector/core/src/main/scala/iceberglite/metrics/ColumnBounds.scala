package iceberglite.metrics

import java.nio.ByteBuffer

import iceberglite.spec.property.MetricsMode
import iceberglite.spec.property.MetricsMode.{Counts, Full, NoMetrics, Truncate}
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal._

/**
 * Computes the lower and upper bounds of a column in the form that metadata stores (spec: `data_file`, notes 1 and 2).
 * Strings and binaries are truncated. Values of type fixed are not truncated, because a shorter value is not valid for
 * the type.
 */
object ColumnBounds {

  /** Returns a value less than or equal to `minimum`; `None` if the mode stores no bounds. */
  def lower(minimum: Literal, mode: MetricsMode): Option[Literal] = (mode, minimum) match {
    case (NoMetrics | Counts, _) => None
    case (Truncate(length), StringLiteral(v)) => Some(StringLiteral(prefix(v, length)))
    case (Truncate(length), BinaryLiteral(v)) => Some(BinaryLiteral(prefix(v, length)))
    case (Truncate(_) | Full, other) => Some(other)
  }

  /**
   * Returns a value greater than or equal to `maximum`; `None` if the mode stores no bounds, or if no value of the
   * mode's length is greater than or equal to `maximum`.
   */
  def upper(maximum: Literal, mode: MetricsMode): Option[Literal] = (mode, maximum) match {
    case (NoMetrics | Counts, _) => None
    case (Truncate(length), StringLiteral(v)) => upperBound(v, length).map(StringLiteral(_))
    case (Truncate(length), BinaryLiteral(v)) => upperBound(v, length).map(BinaryLiteral(_))
    case (Truncate(_) | Full, other) => Some(other)
  }

  /**
   * Converts the minimum and maximum in the statistics of a file's footer to bounds. These statistics do not always
   * preserve the sign of zero, so a lower bound of zero becomes -0.0, and an upper bound of zero becomes 0.0.
   */
  def ofStatistics(minimum: Literal, maximum: Literal): (Literal, Literal) = {
    val lower = minimum match {
      case FloatLiteral(v) if v == 0.0f => FloatLiteral(-0.0f)
      case DoubleLiteral(v) if v == 0.0 => DoubleLiteral(-0.0)
      case other => other
    }
    val upper = maximum match {
      case FloatLiteral(v) if v == 0.0f => FloatLiteral(0.0f)
      case DoubleLiteral(v) if v == 0.0 => DoubleLiteral(0.0)
      case other => other
    }
    (lower, upper)
  }

  /** Returns whether a value is NaN, which is not a valid bound. */
  def isNan(value: Literal): Boolean = value match {
    case FloatLiteral(v) => v.isNaN
    case DoubleLiteral(v) => v.isNaN
    case _ => false
  }

  /** Returns the first `length` code points. */
  private def prefix(text: String, length: Int): String =
    if (text.length <= length || text.codePointCount(0, text.length) <= length) text
    else text.substring(0, text.offsetByCodePoints(0, length))

  private def prefix(bytes: ByteBuffer, length: Int): ByteBuffer =
    if (bytes.remaining <= length) bytes
    else {
      val truncated = new Array[Byte](length)
      bytes.duplicate().get(truncated)
      ByteBuffer.wrap(truncated)
    }

  /**
   * Returns the text itself if it is not longer than `length`. Otherwise returns the prefix of this length, with the
   * last code point incremented. If the last code point is the maximum, it is removed, and the previous code point is
   * incremented.
   */
  private def upperBound(text: String, length: Int): Option[String] = {
    val truncated = prefix(text, length)
    if (truncated.length == text.length) Some(text)
    else {
      val points = truncated.codePoints.toArray
      points.lastIndexWhere(_ < Character.MAX_CODE_POINT) match {
        case -1 => None
        case last => Some(new String(points.updated(last, nextCodePoint(points(last))), 0, last + 1))
      }
    }
  }

  /** Returns the next code point. Surrogate code points are skipped, because they are not characters. */
  private def nextCodePoint(codePoint: Int): Int =
    if (codePoint == Character.MIN_SURROGATE - 1) Character.MAX_SURROGATE + 1 else codePoint + 1

  private def upperBound(bytes: ByteBuffer, length: Int): Option[ByteBuffer] =
    if (bytes.remaining <= length) Some(bytes)
    else {
      val truncated = prefix(bytes, length).array
      truncated.lastIndexWhere(_ != -1) match {
        case -1 => None
        case last => Some(ByteBuffer.wrap(truncated.updated(last, (truncated(last) + 1).toByte), 0, last + 1).slice())
      }
    }
}
