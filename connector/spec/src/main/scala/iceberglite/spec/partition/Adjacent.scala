package iceberglite.spec.partition

import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal._

/**
 * Returns the previous or next value of a discrete type, to convert `x < 10` to `x <= 9`. If there is no such value
 * (strings, the end of a range), the value itself is returned. An inclusive projection then becomes wider and a strict
 * one narrower; both remain correct.
 */
private[partition] object Adjacent {
  def below(value: Literal): Literal = step(value, -1, Int.MinValue, Long.MinValue)

  def above(value: Literal): Literal = step(value, 1, Int.MaxValue, Long.MaxValue)

  private def step(value: Literal, by: Int, intEnd: Int, longEnd: Long): Literal = value match {
    case IntLiteral(v) if v != intEnd => IntLiteral(v + by)
    case LongLiteral(v) if v != longEnd => LongLiteral(v + by)
    case DecimalLiteral(v) => DecimalLiteral(if (by < 0) v.subtract(v.ulp) else v.add(v.ulp))
    case DateLiteral(v) if v != intEnd => DateLiteral(v + by)
    case TimestampLiteral(v) if v != longEnd => TimestampLiteral(v + by)
    case TimestampTzLiteral(v) if v != longEnd => TimestampTzLiteral(v + by)
    case TimestampNsLiteral(v) if v != longEnd => TimestampNsLiteral(v + by)
    case TimestampTzNsLiteral(v) if v != longEnd => TimestampTzNsLiteral(v + by)
    case other => other
  }
}
