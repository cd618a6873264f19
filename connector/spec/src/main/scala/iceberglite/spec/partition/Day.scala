package iceberglite.spec.partition

import iceberglite.spec.expr.{Expression, Predicate, Term}
import iceberglite.spec.types.{DateTime, Literal, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Literal.DateLiteral
import iceberglite.spec.types.Type.DateType

/**
 * The day transform: the date of the value, in days since 1970-01-01. The result type is date, as in Apache Iceberg and
 * other implementations, although the specification's table of transforms states int.
 */
object Day extends TimeTransform("day") {
  override def resultType(source: PrimitiveType): PrimitiveType = DateType

  override protected def units(value: Literal): Int = days(value)

  override protected def literal(units: Int): Literal = DateLiteral(units)

  override def project(target: NestedField, predicate: Predicate): Option[Expression] =
    if (hasDateSource(predicate)) Identity.project(target, predicate) else super.project(target, predicate)

  override def projectStrict(target: NestedField, predicate: Predicate): Option[Expression] =
    if (hasDateSource(predicate)) Identity.projectStrict(target, predicate) else super.projectStrict(target, predicate)

  override def toHuman(value: Literal): String = DateTime.formatDateInPath(unitsOf(value))

  /** Whether the source column has the type date. The day of a date is the date itself. */
  private def hasDateSource(predicate: Predicate): Boolean = predicate.term match {
    case Term.Bound(field, _) => (field.fieldType: Type) == DateType
    case _: Term.Named | _: Term.Transformed | _: Term.Part => false
  }
}
