package iceberglite.peer

import org.apache.iceberg.types.{Type => PeerType, Types => PeerTypes}

import iceberglite.spec.{Literal, PrimitiveType, Type}
import iceberglite.spec.Literal._
import iceberglite.spec.json.TypeJson

/** Types and single values as the Java library has them. */
object PeerValues {
  def typeOf(t: PrimitiveType): PeerType = PeerTypes.fromTypeName(t.toString)

  /** What this library makes of the name that the Java library gives a type. */
  def named(name: String): Type = TypeJson.parse("peer", "\"" + name + "\"")

  /** As the Java library holds values in memory. */
  def of(value: Literal): AnyRef = value match {
    case BooleanLiteral(v) => Boolean.box(v)
    case IntLiteral(v) => Int.box(v)
    case LongLiteral(v) => Long.box(v)
    case FloatLiteral(v) => Float.box(v)
    case DoubleLiteral(v) => Double.box(v)
    case DecimalLiteral(v) => v
    case DateLiteral(days) => Int.box(days)
    case TimeLiteral(micros) => Long.box(micros)
    case TimestampLiteral(micros) => Long.box(micros)
    case TimestampTzLiteral(micros) => Long.box(micros)
    case TimestampNsLiteral(nanos) => Long.box(nanos)
    case TimestampTzNsLiteral(nanos) => Long.box(nanos)
    case StringLiteral(v) => v
    case UuidLiteral(v) => v
    case FixedLiteral(bytes) => bytes
    case BinaryLiteral(bytes) => bytes
  }
}
