package iceberglite.spec.partition

import iceberglite.spec.expr.{Expression, Predicate, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.types.{DateTime, Literal, NestedField, Type}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type.DateType

/**
 * The hour transform: hours since 1970-01-01 00:00.
 *
 * The hours of timestamps that are more than about 245,000 years before or after 1970 do not fit into an int. Such a
 * timestamp is, for example, the maximum timestamp, which may represent infinity. As in Apache Iceberg, the hours of
 * such timestamps wrap around. The projections take this into account.
 */
object Hour extends TimeTransform("hour") {
  private val HoursPerDay = 24

  /**
   * The smallest absolute value that an hour can have after it has wrapped around. An hour with a smaller absolute
   * value has not wrapped around. The value is the hour of the minimum timestamp plus 2^32.
   */
  private val FirstAmbiguousHour: Int = ((1L << 32) - Math.floorDiv(Long.MaxValue, DateTime.MicrosPerHour) - 1).toInt

  override def canTransform(source: Type): Boolean = source != DateType && super.canTransform(source)

  override protected def units(value: Literal): Int = DateTime.hoursFromMicros(micros(value))

  override def project(target: NestedField, predicate: Predicate): Option[Expression] = {
    val field = Term.Bound(target, target.name)
    limit(predicate) match {
      case Some(v) if isAmbiguous(v) => Some(NotNull(field))
      case Some(_) => super.project(target, predicate).map(or(_, negate(isUnambiguousHour(field))))
      case None => super.project(target, predicate)
    }
  }

  override def projectStrict(target: NestedField, predicate: Predicate): Option[Expression] =
    limit(predicate) match {
      case Some(v) if isAmbiguous(v) => None
      case Some(_) =>
        super.projectStrict(target, predicate).map(and(_, isUnambiguousHour(Term.Bound(target, target.name))))
      case None => super.projectStrict(target, predicate)
    }

  override def toHuman(value: Literal): String = {
    val hours = unitsOf(value)
    f"${DateTime.formatDateInPath(Math.floorDiv(hours, HoursPerDay))}-${Math.floorMod(hours, HoursPerDay)}%02d"
  }

  /**
   * Returns the value with which `<`, `<=`, `>` or `>=` compares. Returns `None` for other predicates, and for
   * nanosecond timestamps. The hours of nanosecond timestamps do not wrap around, because nanosecond timestamps end in
   * 2262.
   */
  private def limit(predicate: Predicate): Option[Literal] = (predicate match {
    case LessThan(_, v) => Some(v)
    case LessThanOrEqual(_, v) => Some(v)
    case GreaterThan(_, v) => Some(v)
    case GreaterThanOrEqual(_, v) => Some(v)
    case _ => None
  }).collect { case v @ (_: TimestampLiteral | _: TimestampTzLiteral) => v }

  private def isAmbiguous(limit: Literal): Boolean =
    math.abs(Math.floorDiv(micros(limit), DateTime.MicrosPerHour)) >= FirstAmbiguousHour - 1

  private def isUnambiguousHour(field: Term): Expression =
    And(GreaterThan(field, literal(-FirstAmbiguousHour)), LessThan(field, literal(FirstAmbiguousHour)))
}
