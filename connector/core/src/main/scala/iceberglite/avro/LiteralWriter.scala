package iceberglite.avro

import java.math.BigDecimal

import scala.util.Try

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.expr.LiteralText
import iceberglite.spec.types.{Literal, PrimitiveType, Type}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/**
 * Writes literals of one type in Avro's encoding (spec: "Appendix A: Avro").
 *
 * @param what a description of the values, for messages
 */
final private[iceberglite] class LiteralWriter(what: String, target: PrimitiveType) {

  /** Writes the value of an optional field. A value of type `unknown` is always null and is encoded in zero bytes. */
  def writeOptional(value: Option[Literal], out: AvroOutput): Unit =
    if ((target: PrimitiveType) == UnknownType) value.foreach(refuse)
    else {
      out.writeBranch(value.isDefined)
      value.foreach(v => write(LiteralWriter.widen(v, target), out))
    }

  private def write(value: Literal, out: AvroOutput): Unit = (value, target) match {
    case (IntLiteral(v), IntType) => out.writeLong(v.toLong)
    case (LongLiteral(v), LongType) => out.writeLong(v)
    case (DateLiteral(days), DateType) => out.writeLong(days.toLong)
    case (TimeLiteral(micros), TimeType) => out.writeLong(micros)
    case (TimestampLiteral(micros), TimestampType) => out.writeLong(micros)
    case (TimestampTzLiteral(micros), TimestampTzType) => out.writeLong(micros)
    case (TimestampNsLiteral(nanos), TimestampNsType) => out.writeLong(nanos)
    case (TimestampTzNsLiteral(nanos), TimestampTzNsType) => out.writeLong(nanos)
    case (BooleanLiteral(v), BooleanType) => out.writeBoolean(v)
    case (FloatLiteral(v), FloatType) => out.writeFloat(v)
    case (DoubleLiteral(v), DoubleType) => out.writeDouble(v)
    case (StringLiteral(v), StringType) => out.writeText(v)
    case (UuidLiteral(v), UuidType) =>
      out.writeRaw(java.nio.ByteBuffer.allocate(AvroSchemas.UuidSize).putLong(v.getMostSignificantBits)
        .putLong(v.getLeastSignificantBits).flip())
    case (FixedLiteral(bytes), FixedType(length)) if bytes.remaining == length => out.writeRaw(bytes)
    case (BinaryLiteral(bytes), BinaryType) => out.writeBytes(bytes)
    case (DecimalLiteral(v), DecimalType(precision, scale)) if v.scale == scale =>
      writeDecimal(v, AvroSchemas.bytesOfDecimal(precision), out)
    case _ => refuse(value)
  }

  /** Writes the unscaled value of a decimal, sign-extended to the length of the type in bytes. */
  private def writeDecimal(value: BigDecimal, length: Int, out: AvroOutput): Unit = {
    val unscaled = value.unscaledValue.toByteArray
    if (unscaled.length > length) refuse(DecimalLiteral(value))
    (unscaled.length until length).foreach(_ => out.writeByte(if (value.signum < 0) 0xff else 0))
    out.writeRaw(unscaled, 0, unscaled.length)
  }

  private def refuse(value: Literal): Unit =
    throw InvalidArgument(what, LiteralText.of(value), s"It must be of type $target")
}

private[iceberglite] object LiteralWriter {
  def apply(what: String, target: PrimitiveType): LiteralWriter = new LiteralWriter(what, target)

  /**
   * Promotes a value to the current type of its column. The value has the type that the column had when the file was
   * written.
   */
  def widen(value: Literal, target: Type): Literal = (value, target) match {
    case (IntLiteral(v), LongType) => LongLiteral(v.toLong)
    case (FloatLiteral(v), DoubleType) => DoubleLiteral(v.toDouble)
    case (DecimalLiteral(v), DecimalType(_, scale)) if v.scale != scale =>
      Try(v.setScale(scale)).map(DecimalLiteral(_): Literal).getOrElse(value)
    case _ => value
  }
}
