package iceberglite.spec.partition

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.expr.{Expression, Predicate, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.types.{DateTime, Literal, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/**
 * The common part of the transforms year, month, day and hour. Their values are numbers of units (years, months, days
 * or hours) since the start of 1970.
 *
 * Apache Iceberg before 0.12 rounded times before 1970 toward zero. Therefore a row with a negative unit may be in the
 * partition of the next unit, and the projections also match this partition. The partition values that this class
 * computes are rounded down, as the specification requires.
 */
abstract private[partition] class TimeTransform(override val name: String) extends Transform with TransformFamily {

  /** Returns the number of units between the start of 1970 and a source value, rounded down. */
  protected def units(value: Literal): Int

  /** Converts a number of units to a partition value. */
  protected def literal(units: Int): Literal = IntLiteral(units)

  override def parse(json: String): Option[Transform] = if (json == name) Some(this) else None

  override def canTransform(source: Type): Boolean = source match {
    case DateType | TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType => true
    case _ => false
  }

  override def resultType(source: PrimitiveType): PrimitiveType = IntType

  override def apply(value: Literal): Option[Literal] = Some(literal(units(value)))

  override def preservesOrder: Boolean = true

  override def project(target: NestedField, predicate: Predicate): Option[Expression] = {
    val field = Term.Bound(target, target.name)
    predicate match {
      case IsNull(_) => Some(IsNull(field))
      case NotNull(_) => Some(NotNull(field))
      case LessThan(_, v) => Some(LessThanOrEqual(field, literal(highestUnit(units(AdjacentValue.below(v))))))
      case LessThanOrEqual(_, v) => Some(LessThanOrEqual(field, literal(highestUnit(units(v)))))
      case GreaterThan(_, v) => Some(GreaterThanOrEqual(field, literal(units(AdjacentValue.above(v)))))
      case GreaterThanOrEqual(_, v) => Some(GreaterThanOrEqual(field, literal(units(v))))
      case Equal(_, v) => Some(In(field, partitionValues(Set(v))))
      case In(_, vs) => Some(In(field, partitionValues(vs)))
      case _: NotEqual | _: NotIn | _: IsNan | _: NotNan | _: StartsWith | _: NotStartsWith | _: BoxIntersects |
          _: BoxDisjoint => None
    }
  }

  override def projectStrict(target: NestedField, predicate: Predicate): Option[Expression] = {
    val field = Term.Bound(target, target.name)
    predicate match {
      case IsNull(_) => Some(IsNull(field))
      case NotNull(_) => Some(NotNull(field))
      case LessThan(_, v) => Some(LessThan(field, literal(units(v))))
      case LessThanOrEqual(_, v) => Some(LessThan(field, literal(units(AdjacentValue.above(v)))))
      case GreaterThan(_, v) => Some(GreaterThan(field, literal(highestUnit(units(v)))))
      case GreaterThanOrEqual(_, v) => Some(GreaterThan(field, literal(highestUnit(units(AdjacentValue.below(v))))))
      case NotEqual(_, v) => Some(NotIn(field, partitionValues(Set(v))))
      case NotIn(_, vs) => Some(NotIn(field, partitionValues(vs)))
      case _: Equal | _: In | _: IsNan | _: NotNan | _: StartsWith | _: NotStartsWith | _: BoxIntersects |
          _: BoxDisjoint => None
    }
  }

  override def defaultFieldName(source: String): String = s"${source}_$name"

  /** Returns the highest partition value that rows of the given unit may have. */
  private def highestUnit(unit: Int): Int = if (unit < 0) unit + 1 else unit

  /** Returns all partition values that rows with the given source values may have. */
  private def partitionValues(values: Set[Literal]): Set[Literal] =
    values.map(units).flatMap(unit => Set(unit, highestUnit(unit))).map(literal)

  protected def days(value: Literal): Int = value match {
    case DateLiteral(days) => days
    case _ => DateTime.daysFromMicros(micros(value))
  }

  protected def micros(value: Literal): Long = value match {
    case TimestampLiteral(micros) => micros
    case TimestampTzLiteral(micros) => micros
    case TimestampNsLiteral(nanos) => DateTime.microsFromNanos(nanos)
    case TimestampTzNsLiteral(nanos) => DateTime.microsFromNanos(nanos)
    case other => throw InvalidArgument(s"$name transform", other.toString, "It supports only dates and timestamps")
  }

  /** Returns the number of units in a partition value. */
  protected def unitsOf(value: Literal): Int = value match {
    case IntLiteral(units) => units
    case DateLiteral(units) => units
    case other => throw InvalidArgument(s"$name partition value", other.toString, "It must be an int or a date")
  }
}
