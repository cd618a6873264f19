package iceberglite.spec.partition

import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal._

/**
 * Returns the previous or next int, long, decimal, date or timestamp, so that a projection can convert `x < 10` to
 * `x <= 9`. For the other types, such as string and time, and at the ends of the range of an int, long, date or
 * timestamp, the value itself is returned. If a projection uses the value itself, an inclusive projection may match
 * more partitions than necessary, and a strict projection may match fewer partitions than possible. Both projections
 * remain correct.
 */
private[partition] object AdjacentValue {
  def below(value: Literal): Literal = step(value, -1, Int.MinValue, Long.MinValue)

  def above(value: Literal): Literal = step(value, 1, Int.MaxValue, Long.MaxValue)

  private def step(value: Literal, difference: Int, intEnd: Int, longEnd: Long): Literal = value match {
    case IntLiteral(v) if v != intEnd => IntLiteral(v + difference)
    case LongLiteral(v) if v != longEnd => LongLiteral(v + difference)
    case DecimalLiteral(v) => DecimalLiteral(if (difference < 0) v.subtract(v.ulp) else v.add(v.ulp))
    case DateLiteral(v) if v != intEnd => DateLiteral(v + difference)
    case TimestampLiteral(v) if v != longEnd => TimestampLiteral(v + difference)
    case TimestampTzLiteral(v) if v != longEnd => TimestampTzLiteral(v + difference)
    case TimestampNsLiteral(v) if v != longEnd => TimestampNsLiteral(v + difference)
    case TimestampTzNsLiteral(v) if v != longEnd => TimestampTzNsLiteral(v + difference)
    case other => other
  }
}
