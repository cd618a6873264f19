package iceberglite.spec.partition

import java.nio.ByteBuffer
import java.util.Base64

import iceberglite.spec.expr.{Expression, LiteralText, Predicate, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.types.{DateTime, Literal, NestedField, NestedType, PrimitiveType, Type}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** The identity transform, which returns the value unchanged. */
object Identity extends Transform with TransformFamily {
  override val name = "identity"

  override def parse(json: String): Option[Transform] = if (json == name) Some(this) else None

  override def canTransform(source: Type): Boolean = source match {
    case VariantType | _: GeometryType | _: GeographyType => false
    case _: PrimitiveType => true
    case _: NestedType => false
  }

  override def resultType(source: PrimitiveType): PrimitiveType = source

  override def apply(value: Literal): Option[Literal] = Some(value)

  override def preservesOrder: Boolean = true

  override def project(target: NestedField, predicate: Predicate): Option[Expression] =
    Some(replaceTerm(target, predicate))

  override def projectStrict(target: NestedField, predicate: Predicate): Option[Expression] =
    Some(replaceTerm(target, predicate))

  /** Formats a value. Dates and times are in ISO 8601, with the offset `+00:00` for UTC. Bytes are in base 64. */
  override def toHuman(value: Literal): String = value match {
    case DateLiteral(days) => DateTime.formatDateInPath(days)
    case TimeLiteral(micros) => DateTime.formatTimeInPath(micros)
    case TimestampLiteral(micros) => DateTime.formatTimestamp(micros)
    case TimestampTzLiteral(micros) => DateTime.formatTimestampTz(micros)
    case TimestampNsLiteral(nanos) => DateTime.formatTimestampNs(nanos)
    case TimestampTzNsLiteral(nanos) => DateTime.formatTimestampTzNs(nanos)
    case StringLiteral(text) => text
    case UuidLiteral(uuid) => uuid.toString
    case DecimalLiteral(decimal) => decimal.toString
    case FixedLiteral(bytes) => base64(bytes)
    case BinaryLiteral(bytes) => base64(bytes)
    case _: BooleanLiteral | _: IntLiteral | _: LongLiteral | _: FloatLiteral | _: DoubleLiteral =>
      LiteralText.of(value)
  }

  override def defaultFieldName(source: String): String = source

  /**
   * Returns the predicate with the field `target` in place of its term. The field must have the same values as the
   * term.
   */
  private[spec] def replaceTerm(target: NestedField, predicate: Predicate): Predicate = {
    val field = Term.Bound(target, target.name)
    predicate match {
      case IsNull(_) => IsNull(field)
      case NotNull(_) => NotNull(field)
      case IsNan(_) => IsNan(field)
      case NotNan(_) => NotNan(field)
      case LessThan(_, v) => LessThan(field, v)
      case LessThanOrEqual(_, v) => LessThanOrEqual(field, v)
      case GreaterThan(_, v) => GreaterThan(field, v)
      case GreaterThanOrEqual(_, v) => GreaterThanOrEqual(field, v)
      case Equal(_, v) => Equal(field, v)
      case NotEqual(_, v) => NotEqual(field, v)
      case StartsWith(_, p) => StartsWith(field, p)
      case NotStartsWith(_, p) => NotStartsWith(field, p)
      case In(_, vs) => In(field, vs)
      case NotIn(_, vs) => NotIn(field, vs)
      case BoxIntersects(_, box) => BoxIntersects(field, box)
      case BoxDisjoint(_, box) => BoxDisjoint(field, box)
    }
  }

  private def base64(bytes: ByteBuffer): String = {
    val copy = new Array[Byte](bytes.remaining)
    bytes.duplicate().get(copy)
    Base64.getEncoder.encodeToString(copy)
  }
}
