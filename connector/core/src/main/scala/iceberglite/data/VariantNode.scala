package iceberglite.data

import java.math.{BigDecimal, BigInteger}
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.UTF_8

import iceberglite.spec.types.{Literal, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type.DecimalType

/** A variant that is not yet encoded, or a part of it. [[VariantEncoding]] encodes it. */
sealed private[iceberglite] trait VariantNode

private[iceberglite] object VariantNode {

  /** A value that is neither an object nor an array. @param encoded the encoded value, with its header */
  final case class Scalar(encoded: Array[Byte]) extends VariantNode

  /** An object. @param fields the fields with distinct names, in any order */
  final case class Fields(fields: Vector[(String, VariantNode)]) extends VariantNode

  final case class Elements(elements: Vector[VariantNode]) extends VariantNode

  val Null: VariantNode = scalar(header(VariantPrimitive.Null, 0))

  def ofBoolean(value: Boolean): VariantNode =
    scalar(header(if (value) VariantPrimitive.True else VariantPrimitive.False, 0))

  /** Returns an integer in the smallest type that has the value. */
  def ofLong(value: Long): VariantNode =
    if (value == value.toByte) small(value.toInt - Byte.MinValue)
    else if (value == value.toShort) scalar(header(VariantPrimitive.Int16, 2).putShort(1, value.toShort))
    else if (value == value.toInt) scalar(header(VariantPrimitive.Int32, 4).putInt(1, value.toInt))
    else scalar(header(VariantPrimitive.Int64, 8).putLong(1, value))

  def ofDouble(value: Double): VariantNode =
    scalar(header(VariantPrimitive.Double, 8).putDouble(1, value))

  /** Returns a decimal in the smallest type that has its digits; absent if no type has them. */
  def ofDecimal(value: BigDecimal): Option[VariantNode] = {
    val digits = math.max(value.precision, value.scale)
    if (value.scale < 0 || digits > MaxDecimalDigits) None
    else if (digits <= MaxDigitsOfInt) Some(decimal(VariantPrimitive.Decimal4, 4, value))
    else if (digits <= MaxDigitsOfLong) Some(decimal(VariantPrimitive.Decimal8, 8, value))
    else Some(decimal(VariantPrimitive.Decimal16, 16, value))
  }

  def ofString(value: String): VariantNode = {
    val bytes = value.getBytes(UTF_8)
    if (bytes.length > MaxShortString) scalar(sized(VariantPrimitive.String, bytes))
    else
      scalar(withContent(ByteBuffer.allocate(1 + bytes.length), bytes.length << 2 | VariantValues.ShortString, bytes))
  }

  /** Returns the variant of a value that a writer stored outside of the variant encoding (Parquet: "Shredding"). */
  def of(value: Literal): VariantNode = value match {
    case BooleanLiteral(v) => ofBoolean(v)
    case IntLiteral(v) => ofLong(v.toLong)
    case LongLiteral(v) => ofLong(v)
    case FloatLiteral(v) => scalar(header(VariantPrimitive.Float, 4).putFloat(1, v))
    case DoubleLiteral(v) => ofDouble(v)
    case DecimalLiteral(v) => ofDecimal(v).getOrElse(
        throw new IllegalStateException(s"A decimal column of a file cannot contain $v")
      )
    case DateLiteral(days) => scalar(header(VariantPrimitive.Date, 4).putInt(1, days))
    case TimeLiteral(micros) => long(VariantPrimitive.TimeNtz, micros)
    case TimestampLiteral(micros) => long(VariantPrimitive.TimestampNtz, micros)
    case TimestampTzLiteral(micros) => long(VariantPrimitive.Timestamp, micros)
    case TimestampNsLiteral(nanos) => long(VariantPrimitive.TimestampNtzNanos, nanos)
    case TimestampTzNsLiteral(nanos) => long(VariantPrimitive.TimestampNanos, nanos)
    case StringLiteral(v) => ofString(v)
    case UuidLiteral(v) =>
      val encoded = header(VariantPrimitive.Uuid, 16).order(ByteOrder.BIG_ENDIAN)
      scalar(encoded.putLong(1, v.getMostSignificantBits).putLong(9, v.getLeastSignificantBits))
    case FixedLiteral(bytes) => scalar(sized(VariantPrimitive.Binary, arrayOf(bytes)))
    case BinaryLiteral(bytes) => scalar(sized(VariantPrimitive.Binary, arrayOf(bytes)))
  }

  /**
   * Returns the variant of a value with the width of a type. Unlike in [[of]], all values of a type have the same type
   * in the encoding.
   */
  def ofWidth(value: Literal, t: PrimitiveType): VariantNode = (value, t) match {
    case (IntLiteral(v), _) => scalar(header(VariantPrimitive.Int32, 4).putInt(1, v))
    case (LongLiteral(v), _) => long(VariantPrimitive.Int64, v)
    case (DecimalLiteral(v), DecimalType(precision, _)) =>
      if (precision <= MaxDigitsOfInt) decimal(VariantPrimitive.Decimal4, 4, v)
      else if (precision <= MaxDigitsOfLong) decimal(VariantPrimitive.Decimal8, 8, v)
      else decimal(VariantPrimitive.Decimal16, 16, v)
    case _ => of(value)
  }

  /** The largest number of digits of a decimal. */
  val MaxDecimalDigits = 38

  /** One shared object for each integer of one byte, so that a long array of such integers needs little memory. */
  private lazy val small: Vector[VariantNode] = (Byte.MinValue to Byte.MaxValue).map { value =>
    scalar(header(VariantPrimitive.Int8, 1).put(1, value.toByte))
  }.toVector

  private val MaxDigitsOfInt = 9
  private val MaxDigitsOfLong = 18
  private val MaxShortString = 63

  private def scalar(encoded: ByteBuffer): VariantNode = Scalar(encoded.array)

  private def long(kind: Int, value: Long): VariantNode = scalar(header(kind, 8).putLong(1, value))

  private def decimal(kind: Int, width: Int, value: BigDecimal): VariantNode = {
    val unscaled: BigInteger = value.unscaledValue
    val encoded = header(kind, 1 + width).put(1, value.scale.toByte)
    val bytes = unscaled.toByteArray.reverse.padTo(width, if (unscaled.signum < 0) (-1).toByte else 0.toByte)
    bytes.indices.foreach(i => encoded.put(2 + i, bytes(i)))
    scalar(encoded)
  }

  /** Returns an encoded value of a kind with a length, i.e. of a string or a binary. */
  private def sized(kind: Int, bytes: Array[Byte]): ByteBuffer = {
    val encoded = header(kind, 4 + bytes.length).putInt(1, bytes.length)
    withContent(encoded, kind << 2, bytes)
  }

  /** Puts a header into the first byte of a buffer, and `content` at its end. */
  private def withContent(encoded: ByteBuffer, header: Int, content: Array[Byte]): ByteBuffer = {
    encoded.put(0, header.toByte)
    val end = encoded.duplicate()
    end.position(encoded.capacity - content.length)
    end.put(content)
    encoded
  }

  /** Returns a buffer with the header of a primitive value, and room for its bytes. */
  private def header(kind: Int, size: Int): ByteBuffer =
    ByteBuffer.allocate(1 + size).order(ByteOrder.LITTLE_ENDIAN).put(0, (kind << 2).toByte)

  private def arrayOf(bytes: ByteBuffer): Array[Byte] = {
    val array = new Array[Byte](bytes.remaining)
    bytes.duplicate().get(array)
    array
  }
}
