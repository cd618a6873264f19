package iceberglite.inspect

import java.nio.ByteBuffer

import iceberglite.spec.{Literal, PrimitiveType, SingleValue}
import iceberglite.spec.Literal._
import iceberglite.spec.Type._

/** Literals as the values that [[MetadataRow]] documents. */
private[inspect] object PlainValue {
  def of(value: Literal): Any = value match {
    case BooleanLiteral(v) => v
    case IntLiteral(v) => v
    case LongLiteral(v) => v
    case FloatLiteral(v) => v
    case DoubleLiteral(v) => v
    case DecimalLiteral(v) => v
    case DateLiteral(days) => days
    case TimeLiteral(micros) => micros
    case TimestampLiteral(micros) => micros
    case TimestampTzLiteral(micros) => micros
    case TimestampNsLiteral(nanos) => nanos
    case TimestampTzNsLiteral(nanos) => nanos
    case StringLiteral(v) => v
    case UuidLiteral(v) => v
    case FixedLiteral(bytes) => bytes
    case BinaryLiteral(bytes) => bytes
  }

  /** The type of a bound of a column, as a metadata table shows it: bytes where it is no value of the column's type. */
  def boundType(t: PrimitiveType): PrimitiveType = t match {
    case UnknownType | VariantType | _: GeometryType | _: GeographyType => BinaryType
    case other => other
  }

  /** A bound as a value of [[boundType]]; one that cannot be read says nothing. */
  def ofBound(t: PrimitiveType, bytes: ByteBuffer): Option[Any] =
    SingleValue.decodeValid(boundType(t), bytes).map(of)
}
