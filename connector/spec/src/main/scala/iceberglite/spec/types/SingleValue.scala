package iceberglite.spec.types

import java.math.{BigDecimal, BigInteger}
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** The binary form of single values, for example of bounds (spec: "Appendix D: Single-value serialization"). */
object SingleValue {

  /**
   * Returns a buffer that contains only the bytes of the value. For a binary or fixed value, the buffer shares the
   * bytes of the literal.
   */
  def encode(value: Literal): ByteBuffer = value match {
    case BooleanLiteral(v) => ByteBuffer.wrap(Array[Byte](if (v) 1 else 0))
    case IntLiteral(v) => ofInt(v)
    case LongLiteral(v) => ofLong(v)
    case FloatLiteral(v) => ofInt(java.lang.Float.floatToIntBits(v))
    case DoubleLiteral(v) => ofLong(java.lang.Double.doubleToLongBits(v))
    case DecimalLiteral(v) => ByteBuffer.wrap(v.unscaledValue.toByteArray)
    case DateLiteral(days) => ofInt(days)
    case TimeLiteral(micros) => ofLong(micros)
    case TimestampLiteral(micros) => ofLong(micros)
    case TimestampTzLiteral(micros) => ofLong(micros)
    case TimestampNsLiteral(nanos) => ofLong(nanos)
    case TimestampTzNsLiteral(nanos) => ofLong(nanos)
    case StringLiteral(v) => ByteBuffer.wrap(v.getBytes(UTF_8))
    case UuidLiteral(v) => bigEndian(v)
    case FixedLiteral(bytes) => bytes.duplicate()
    case BinaryLiteral(bytes) => bytes.duplicate()
  }

  /**
   * Decodes a value of a column whose current type is `t`. A promotion does not change stored bytes. Therefore four
   * bytes for a long, double or timestamp are decoded as an int, float or date. The position of `bytes` does not
   * change. A binary or fixed literal shares the bytes of the buffer.
   *
   * @throws InvalidArgument if no value of the type has these bytes
   */
  def decode(t: PrimitiveType, bytes: ByteBuffer): Literal = decodeValid(t, bytes).getOrElse(
    throw InvalidArgument("single value", s"${bytes.remaining} bytes", s"The bytes are not a value of type $t")
  )

  /**
   * Decodes a value, such as a bound. Returns `None` if the bytes are not a value of the type, so that readers can
   * ignore an invalid bound.
   */
  def decodeValid(t: PrimitiveType, bytes: ByteBuffer): Option[Literal] = {
    val length = bytes.remaining
    t match {
      case BooleanType if length == 1 => Some(BooleanLiteral(bytes.get(bytes.position()) != 0))
      case IntType if length == 4 => Some(IntLiteral(toInt(bytes)))
      case LongType if length == 8 => Some(LongLiteral(toLong(bytes)))
      case FloatType if length == 4 => Some(FloatLiteral(toFloat(bytes)))
      case DoubleType if length == 8 => Some(DoubleLiteral(java.lang.Double.longBitsToDouble(toLong(bytes))))
      case DateType if length == 4 => Some(DateLiteral(toInt(bytes)))
      case TimeType if length == 8 => Some(TimeLiteral(toLong(bytes)))
      case TimestampType if length == 8 => Some(TimestampLiteral(toLong(bytes)))
      case TimestampTzType if length == 8 => Some(TimestampTzLiteral(toLong(bytes)))
      case TimestampNsType if length == 8 => Some(TimestampNsLiteral(toLong(bytes)))
      case TimestampTzNsType if length == 8 => Some(TimestampTzNsLiteral(toLong(bytes)))
      case DecimalType(_, scale) if length > 0 =>
        Some(DecimalLiteral(new BigDecimal(new BigInteger(copy(bytes)), scale)))
      case StringType => toText(bytes).map(StringLiteral)
      case UuidType if length == 16 => Some(UuidLiteral(toUuid(bytes)))
      case FixedType(_) => Some(FixedLiteral(bytes.duplicate())) // a bound may be truncated
      case BinaryType => Some(BinaryLiteral(bytes.duplicate()))
      case _ if length == 4 => decodePromoted(t, bytes)
      case _ => None
    }
  }

  /** Decodes four bytes that were written before the column was promoted from int, float or date. */
  private def decodePromoted(t: PrimitiveType, bytes: ByteBuffer): Option[Literal] = t match {
    case LongType => Some(LongLiteral(toInt(bytes).toLong))
    case DoubleType => Some(DoubleLiteral(toFloat(bytes).toDouble))
    case TimestampType | TimestampNsType => LiteralConversion.to(DateLiteral(toInt(bytes)), t)
    case _ => None
  }

  /** Returns the little-endian number in four or eight bytes. */
  private[iceberglite] def number(bytes: ByteBuffer): Long =
    if (bytes.remaining == 4) toInt(bytes).toLong else toLong(bytes)

  private def ofInt(v: Int): ByteBuffer = {
    val bytes = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN)
    bytes.putInt(0, v)
    bytes
  }

  private def ofLong(v: Long): ByteBuffer = {
    val bytes = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN)
    bytes.putLong(0, v)
    bytes
  }

  private def bigEndian(v: UUID): ByteBuffer = {
    val bytes = ByteBuffer.allocate(16)
    bytes.putLong(0, v.getMostSignificantBits)
    bytes.putLong(8, v.getLeastSignificantBits)
    bytes
  }

  private def toInt(bytes: ByteBuffer): Int = {
    val value = bytes.getInt(bytes.position())
    if (bytes.order == ByteOrder.LITTLE_ENDIAN) value else Integer.reverseBytes(value)
  }

  private def toLong(bytes: ByteBuffer): Long = {
    val value = bytes.getLong(bytes.position())
    if (bytes.order == ByteOrder.LITTLE_ENDIAN) value else java.lang.Long.reverseBytes(value)
  }

  private def toFloat(bytes: ByteBuffer): Float = java.lang.Float.intBitsToFloat(toInt(bytes))

  private def toUuid(bytes: ByteBuffer): UUID = {
    val bigEndianBytes = bytes.duplicate()
    new UUID(bigEndianBytes.getLong(), bigEndianBytes.getLong())
  }

  /**
   * Decodes a string. Returns `None` for invalid UTF-8, for example if the string was truncated within a character.
   * Replacement characters are not used, because a bound with such a character would sort incorrectly.
   */
  private def toText(bytes: ByteBuffer): Option[String] = {
    val utf8 = copy(bytes)
    val text = new String(utf8, UTF_8)
    if (text.indexOf('\uFFFD') >= 0 && !java.util.Arrays.equals(text.getBytes(UTF_8), utf8)) None else Some(text)
  }

  private def copy(bytes: ByteBuffer): Array[Byte] = {
    val array = new Array[Byte](bytes.remaining)
    bytes.duplicate().get(array)
    array
  }
}
