package iceberglite.spec.expr

import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal._

/**
 * A value that is compared with many other values. To make this fast, integers, dates and times are compared as
 * numbers.
 */
final private[iceberglite] class Comparand(value: Literal) {
  private val isNumber = Comparand.isNumber(value)
  private val number = Comparand.number(value)

  /**
   * Compares `other` with the value in the order of [[Evaluate.ordering]]. The result is negative, zero or positive if
   * `other` is less than, equal to or greater than the value.
   */
  def compare(other: Literal): Int =
    if (isNumber && (other.getClass eq value.getClass)) compareNumber(Comparand.number(other))
    else Integer.signum(Evaluate.ordering.compare(other, value))

  def compareNumber(other: Long): Int = java.lang.Long.compare(other, number)
}

private[iceberglite] object Comparand {
  private def isNumber(value: Literal): Boolean = value match {
    case _: IntLiteral | _: LongLiteral | _: DateLiteral | _: TimeLiteral | _: TimestampLiteral |
        _: TimestampTzLiteral | _: TimestampNsLiteral | _: TimestampTzNsLiteral => true
    case _ => false
  }

  /** Returns the value as a `Long`; zero if [[isNumber]] is false. */
  private def number(value: Literal): Long = value match {
    case IntLiteral(v) => v.toLong
    case LongLiteral(v) => v
    case DateLiteral(v) => v.toLong
    case TimeLiteral(v) => v
    case TimestampLiteral(v) => v
    case TimestampTzLiteral(v) => v
    case TimestampNsLiteral(v) => v
    case TimestampTzNsLiteral(v) => v
    case _ => 0L
  }
}
