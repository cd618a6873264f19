package iceberglite.data

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.UUID

import iceberglite.spec.partition.ValueFactory
import iceberglite.spec.types.{Literal, LiteralConversion, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/**
 * Converts literals, such as partition values and defaults, to the representation of [[Record]], and record values to
 * literals for filters.
 */
object RecordValues extends ValueFactory[AnyRef] {
  override def nullValue: AnyRef = null

  override def primitive(value: Literal, t: PrimitiveType): AnyRef =
    Literal.javaValue(LiteralConversion.to(value, t).getOrElse(value))

  override def struct(values: Vector[AnyRef], t: StructType): AnyRef = new Record(values.toArray)

  override def list(elements: Vector[AnyRef], t: ListType): AnyRef = elements

  override def map(entries: Vector[(AnyRef, AnyRef)], t: MapType): AnyRef = entries

  /**
   * Returns a value of a column of type `t` as a literal; absent for null, and for types that filters do not support.
   */
  def literal(value: AnyRef, t: PrimitiveType): Option[Literal] = (t, value) match {
    case (BooleanType, v: java.lang.Boolean) => Some(BooleanLiteral(v))
    case (IntType, v: Integer) => Some(IntLiteral(v))
    case (LongType, v: java.lang.Long) => Some(LongLiteral(v))
    case (FloatType, v: java.lang.Float) => Some(FloatLiteral(v))
    case (DoubleType, v: java.lang.Double) => Some(DoubleLiteral(v))
    case (_: DecimalType, v: BigDecimal) => Some(DecimalLiteral(v))
    case (DateType, v: Integer) => Some(DateLiteral(v))
    case (TimeType, v: java.lang.Long) => Some(TimeLiteral(v))
    case (TimestampType, v: java.lang.Long) => Some(TimestampLiteral(v))
    case (TimestampTzType, v: java.lang.Long) => Some(TimestampTzLiteral(v))
    case (TimestampNsType, v: java.lang.Long) => Some(TimestampNsLiteral(v))
    case (TimestampTzNsType, v: java.lang.Long) => Some(TimestampTzNsLiteral(v))
    case (StringType, v: String) => Some(StringLiteral(v))
    case (UuidType, v: UUID) => Some(UuidLiteral(v))
    case (_: FixedType, v: ByteBuffer) => Some(FixedLiteral(v))
    case (BinaryType | _: GeometryType | _: GeographyType, v: ByteBuffer) => Some(BinaryLiteral(v))
    case _ => None
  }
}
