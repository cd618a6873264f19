package iceberglite.spec.types

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.UUID

import iceberglite.spec.IcebergError
import iceberglite.spec.types.Type._

/**
 * A value of a primitive type that is not null, for example in predicates, partition tuples, defaults and bounds. Null
 * is represented by `None`.
 */
sealed trait Literal extends Product with Serializable {

  /** The type of the value; for a decimal, the type with the scale of the value and the lowest possible precision. */
  def dataType: PrimitiveType
}

object Literal {
  final case class BooleanLiteral(value: Boolean) extends Literal { def dataType: PrimitiveType = BooleanType }
  final case class IntLiteral(value: Int) extends Literal { def dataType: PrimitiveType = IntType }
  final case class LongLiteral(value: Long) extends Literal { def dataType: PrimitiveType = LongType }

  /** A float. All NaNs are equal, and -0.0 does not equal 0.0, as the specification requires for partition values. */
  final case class FloatLiteral(value: Float) extends Literal {
    def dataType: PrimitiveType = FloatType
    override def equals(that: Any): Boolean = that match {
      case FloatLiteral(other) => java.lang.Float.compare(value, other) == 0
      case _ => false
    }
    override def hashCode: Int = java.lang.Float.hashCode(value)
  }

  /** A double, which is compared like a [[FloatLiteral]]. */
  final case class DoubleLiteral(value: Double) extends Literal {
    def dataType: PrimitiveType = DoubleType
    override def equals(that: Any): Boolean = that match {
      case DoubleLiteral(other) => java.lang.Double.compare(value, other) == 0
      case _ => false
    }
    override def hashCode: Int = java.lang.Double.hashCode(value)
  }
  final case class DecimalLiteral(value: BigDecimal) extends Literal {
    def dataType: PrimitiveType = DecimalType(math.max(value.precision, value.scale), value.scale)
  }

  /** A date. @param days days since 1970-01-01 */
  final case class DateLiteral(days: Int) extends Literal { def dataType: PrimitiveType = DateType }

  /** A time. @param micros microseconds since midnight */
  final case class TimeLiteral(micros: Long) extends Literal { def dataType: PrimitiveType = TimeType }

  /** A local date and time. @param micros microseconds since 1970-01-01 00:00 */
  final case class TimestampLiteral(micros: Long) extends Literal { def dataType: PrimitiveType = TimestampType }

  /** An instant. @param micros microseconds since 1970-01-01 00:00 UTC */
  final case class TimestampTzLiteral(micros: Long) extends Literal { def dataType: PrimitiveType = TimestampTzType }
  final case class TimestampNsLiteral(nanos: Long) extends Literal { def dataType: PrimitiveType = TimestampNsType }
  final case class TimestampTzNsLiteral(nanos: Long) extends Literal {
    def dataType: PrimitiveType = TimestampTzNsType
  }
  final case class StringLiteral(value: String) extends Literal { def dataType: PrimitiveType = StringType }
  final case class UuidLiteral(value: UUID) extends Literal { def dataType: PrimitiveType = UuidType }

  /** A fixed value: the bytes of the buffer from position to limit. The buffer must not be changed. */
  final case class FixedLiteral(bytes: ByteBuffer) extends Literal {
    def dataType: PrimitiveType = FixedType(bytes.remaining)
    private def writeReplace(): AnyRef = new SerializedBytes(copyBytes(bytes), fixed = true)
  }

  /** A binary value: the bytes of the buffer from position to limit. The buffer must not be changed. */
  final case class BinaryLiteral(bytes: ByteBuffer) extends Literal {
    def dataType: PrimitiveType = BinaryType
    private def writeReplace(): AnyRef = new SerializedBytes(copyBytes(bytes), fixed = false)
  }

  /**
   * Returns the value as a Java object: a boxed Boolean or number, a `BigDecimal`, a `String`, a `UUID`, or a
   * `ByteBuffer` that shares the bytes of the literal. Dates and times are boxed numbers of days, microseconds or
   * nanoseconds.
   */
  def javaValue(value: Literal): AnyRef = value match {
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
    case FixedLiteral(bytes) => bytes.duplicate()
    case BinaryLiteral(bytes) => bytes.duplicate()
  }

  private def copyBytes(bytes: ByteBuffer): Array[Byte] = {
    val copy = new Array[Byte](bytes.remaining)
    bytes.duplicate().get(copy)
    copy
  }

  /**
   * The form in which Java serializes a literal with bytes. It is needed because a `ByteBuffer` is not serializable.
   */
  final private class SerializedBytes(bytes: Array[Byte], fixed: Boolean) extends Serializable {
    private def readResolve(): AnyRef =
      if (fixed) FixedLiteral(ByteBuffer.wrap(bytes)) else BinaryLiteral(ByteBuffer.wrap(bytes))
  }

  /**
   * The order of two values of one type. Numbers are compared by value, where NaN is the greatest number and -0.0 is
   * less than 0.0. Strings are compared by code points, which is the order of their UTF-8 bytes. UUIDs, fixed and
   * binary values are compared byte by byte, as unsigned bytes.
   */
  val ordering: Ordering[Literal] = new Ordering[Literal] {
    override def compare(x: Literal, y: Literal): Int = (x, y) match {
      case (BooleanLiteral(a), BooleanLiteral(b)) => java.lang.Boolean.compare(a, b)
      case (IntLiteral(a), IntLiteral(b)) => Integer.compare(a, b)
      case (LongLiteral(a), LongLiteral(b)) => java.lang.Long.compare(a, b)
      case (FloatLiteral(a), FloatLiteral(b)) => java.lang.Float.compare(a, b)
      case (DoubleLiteral(a), DoubleLiteral(b)) => java.lang.Double.compare(a, b)
      case (DecimalLiteral(a), DecimalLiteral(b)) => a.compareTo(b)
      case (DateLiteral(a), DateLiteral(b)) => Integer.compare(a, b)
      case (TimeLiteral(a), TimeLiteral(b)) => java.lang.Long.compare(a, b)
      case (TimestampLiteral(a), TimestampLiteral(b)) => java.lang.Long.compare(a, b)
      case (TimestampTzLiteral(a), TimestampTzLiteral(b)) => java.lang.Long.compare(a, b)
      case (TimestampNsLiteral(a), TimestampNsLiteral(b)) => java.lang.Long.compare(a, b)
      case (TimestampTzNsLiteral(a), TimestampTzNsLiteral(b)) => java.lang.Long.compare(a, b)
      case (StringLiteral(a), StringLiteral(b)) => compareCodePoints(a, b)
      case (UuidLiteral(a), UuidLiteral(b)) =>
        val high = java.lang.Long.compareUnsigned(a.getMostSignificantBits, b.getMostSignificantBits)
        if (high != 0) high else java.lang.Long.compareUnsigned(a.getLeastSignificantBits, b.getLeastSignificantBits)
      case (FixedLiteral(a), FixedLiteral(b)) => compareUnsigned(a, b)
      case (BinaryLiteral(a), BinaryLiteral(b)) => compareUnsigned(a, b)
      case _ =>
        throw IcebergError.InvalidArgument("comparison", s"$x with $y", "Values of different types cannot be compared")
    }
  }

  /**
   * Compares strings in the order of their UTF-8 bytes. Surrogates sort last, because they represent code points above
   * U+FFFF.
   */
  private[iceberglite] def compareCodePoints(a: String, b: String): Int = {
    val shared = math.min(a.length, b.length)
    var i = 0
    while (i < shared && a.charAt(i) == b.charAt(i)) i += 1
    if (i == shared) Integer.compare(a.length, b.length)
    else {
      val (x, y) = (a.charAt(i), b.charAt(i))
      if (Character.isSurrogate(x) != Character.isSurrogate(y)) { if (Character.isSurrogate(x)) 1 else -1 }
      else Character.compare(x, y)
    }
  }

  private[iceberglite] def compareUnsigned(a: ByteBuffer, b: ByteBuffer): Int = {
    val shared = math.min(a.remaining, b.remaining)
    var i = 0
    while (i < shared && a.get(a.position() + i) == b.get(b.position() + i)) i += 1
    if (i == shared) Integer.compare(a.remaining, b.remaining)
    else Integer.compare(a.get(a.position() + i) & 0xff, b.get(b.position() + i) & 0xff)
  }
}
