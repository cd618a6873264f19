package iceberglite.spec.types

import java.math.{BigDecimal, RoundingMode}
import java.nio.ByteBuffer
import java.util.UUID

import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** The position of a literal among the values of another type. */
sealed trait ConvertedLiteral
object ConvertedLiteral {

  /** The literal is a value of the type. */
  final case class Exact(value: Literal) extends ConvertedLiteral

  /** The literal is between `value` and the next value of the type. For example, 1.5 is just above the int 1. */
  final case class JustAbove(value: Literal) extends ConvertedLiteral

  /** The literal is between the previous value of the type and `value`. */
  final case class JustBelow(value: Literal) extends ConvertedLiteral

  /** The literal is greater than every value of the type. */
  case object AboveAll extends ConvertedLiteral

  /** The literal is less than every value of the type. */
  case object BelowAll extends ConvertedLiteral
}

/**
 * Converts literals, for example those of a predicate, to another type. If the other type has no equal value, a literal
 * is not replaced by the nearest value: [[to]] returns `None`, and [[convert]] returns the position of the literal.
 */
object LiteralConversion {
  import ConvertedLiteral._

  /**
   * The maximum number of digits of a decimal that is parsed from a text. It is twice the maximum precision of a
   * column.
   */
  private val MaxDigits = 76

  /**
   * Converts a value to another type; `None` if the other type has no equal value, or if the types are not comparable.
   */
  def to(value: Literal, target: PrimitiveType): Option[Literal] = convert(value, target) match {
    case Some(Exact(converted)) => Some(converted)
    case Some(_: JustAbove | _: JustBelow | AboveAll | BelowAll) | None => None
  }

  /**
   * Returns the position of the value among the values of `target`; `None` if the types are not comparable, or if a
   * string is not the text of a value of `target`.
   */
  def convert(value: Literal, target: PrimitiveType): Option[ConvertedLiteral] = (value, target) match {
    case (DecimalLiteral(v), t: DecimalType) => Some(ofNumber(v, t))
    case (FixedLiteral(bytes), FixedType(length)) => Some(ofBytes(bytes, length))
    case (BinaryLiteral(bytes), FixedType(length)) => Some(ofBytes(bytes, length))
    case (FixedLiteral(bytes), BinaryType) => Some(Exact(BinaryLiteral(bytes)))
    case (v, t) if v.dataType == t => Some(Exact(v))
    case (IntLiteral(v), _) => ofLong(v.toLong, target)
    case (LongLiteral(v), _) => ofLong(v, target)
    case (FloatLiteral(v), _) => ofDouble(v.toDouble, target)
    case (DoubleLiteral(v), _) => ofDouble(v, target)
    case (DecimalLiteral(v), _) if isNumber(target) => Some(ofNumber(v, target))
    case (DateLiteral(days), TimestampType) => Some(scaleUp(days, DateTime.MicrosPerDay, TimestampLiteral))
    case (DateLiteral(days), TimestampNsType) => Some(scaleUp(days, DateTime.NanosPerDay, TimestampNsLiteral))
    case (TimestampLiteral(m), DateType) => Some(roundDown(m, DateTime.MicrosPerDay, d => DateLiteral(d.toInt)))
    case (TimestampLiteral(m), TimestampNsType) => Some(scaleUp(m, 1000L, TimestampNsLiteral))
    case (TimestampNsLiteral(n), TimestampType) => Some(roundDown(n, 1000L, TimestampLiteral))
    case (TimestampTzLiteral(m), TimestampTzNsType) => Some(scaleUp(m, 1000L, TimestampTzNsLiteral))
    case (TimestampTzNsLiteral(n), TimestampTzType) => Some(roundDown(n, 1000L, TimestampTzLiteral))
    case (StringLiteral(text), t: DecimalType) => numberOf(text).map(ofNumber(_, t))
    case (StringLiteral(text), _) => ofText(text, target).map(Exact)
    case _ => None
  }

  /**
   * Converts an integer to another numeric type, or to a date, time or timestamp. For a date, time or timestamp, the
   * integer is a number of days or microseconds. A partition value may be such an integer if the Avro schema of an
   * older manifest has no logical type for it.
   */
  private def ofLong(v: Long, target: PrimitiveType): Option[ConvertedLiteral] = target match {
    case DateType if v > Int.MaxValue => Some(AboveAll)
    case DateType if v < Int.MinValue => Some(BelowAll)
    case DateType => Some(Exact(DateLiteral(v.toInt)))
    case TimeType => Some(Exact(TimeLiteral(v)))
    case TimestampType => Some(Exact(TimestampLiteral(v)))
    case TimestampTzType => Some(Exact(TimestampTzLiteral(v)))
    case _ if isNumber(target) => Some(ofNumber(BigDecimal.valueOf(v), target))
    case _ => None
  }

  private def ofDouble(v: Double, target: PrimitiveType): Option[ConvertedLiteral] = target match {
    case FloatType if v.isNaN || v.isInfinite => Some(Exact(FloatLiteral(v.toFloat)))
    case DoubleType => Some(Exact(DoubleLiteral(v)))
    // NaN is greater than all numbers, as in Spark.
    case _ if isNumber(target) && (v.isNaN || v == Double.PositiveInfinity) => Some(AboveAll)
    case _ if isNumber(target) && v == Double.NegativeInfinity => Some(BelowAll)
    case _ if isNumber(target) => Some(ofNumber(new BigDecimal(v), target))
    case _ => None
  }

  private def isNumber(t: PrimitiveType): Boolean = t match {
    case IntType | LongType | FloatType | DoubleType | _: DecimalType => true
    case _ => false
  }

  private def ofNumber(v: BigDecimal, target: PrimitiveType): ConvertedLiteral = target match {
    case IntType => ofWhole(v, Int.MinValue.toLong, Int.MaxValue.toLong, n => IntLiteral(n.toInt))
    case LongType => ofWhole(v, Long.MinValue, Long.MaxValue, LongLiteral)
    case DecimalType(precision, scale) =>
      val floor = v.setScale(scale, RoundingMode.FLOOR)
      if (floor.precision > precision) { if (v.signum > 0) AboveAll else BelowAll }
      else exactOrAbove(floor.compareTo(v) == 0, DecimalLiteral(floor))
    case FloatType =>
      val nearest = v.floatValue
      val floor = if (!nearest.isInfinite && exceeds(nearest.toDouble, v)) Math.nextDown(nearest) else nearest
      if (floor == Float.PositiveInfinity) JustAbove(FloatLiteral(Float.MaxValue))
      else exactOrAbove(!floor.isInfinite && new BigDecimal(floor.toDouble).compareTo(v) == 0, FloatLiteral(floor))
    case _ =>
      val nearest = v.doubleValue
      val floor = if (!nearest.isInfinite && exceeds(nearest, v)) Math.nextDown(nearest) else nearest
      if (floor == Double.PositiveInfinity) JustAbove(DoubleLiteral(Double.MaxValue))
      else exactOrAbove(!floor.isInfinite && new BigDecimal(floor).compareTo(v) == 0, DoubleLiteral(floor))
  }

  private def exceeds(rounded: Double, v: BigDecimal): Boolean = new BigDecimal(rounded).compareTo(v) > 0

  private def ofWhole(v: BigDecimal, min: Long, max: Long, literal: Long => Literal): ConvertedLiteral =
    if (v.compareTo(BigDecimal.valueOf(min)) < 0) BelowAll
    else if (v.compareTo(BigDecimal.valueOf(max)) > 0) AboveAll
    else {
      val floor = v.setScale(0, RoundingMode.FLOOR)
      exactOrAbove(floor.compareTo(v) == 0, literal(floor.longValueExact))
    }

  private def scaleUp(units: Long, factor: Long, literal: Long => Literal): ConvertedLiteral =
    if (units > Long.MaxValue / factor) AboveAll
    else if (units < Long.MinValue / factor) BelowAll
    else Exact(literal(units * factor))

  private def roundDown(units: Long, divisor: Long, literal: Long => Literal): ConvertedLiteral =
    exactOrAbove(Math.floorMod(units, divisor) == 0, literal(Math.floorDiv(units, divisor)))

  private def exactOrAbove(exact: Boolean, floor: Literal): ConvertedLiteral =
    if (exact) Exact(floor) else JustAbove(floor)

  /**
   * Returns the position of a binary value among the values of a fixed type. Bytes are compared from the left, and a
   * prefix sorts before longer values. Therefore a binary value that is too short is just before the fixed value with
   * the same bytes followed by zeros.
   */
  private def ofBytes(bytes: ByteBuffer, length: Int): ConvertedLiteral = {
    val resized = new Array[Byte](length)
    bytes.duplicate().get(resized, 0, math.min(length, bytes.remaining))
    val literal = FixedLiteral(ByteBuffer.wrap(resized))
    if (bytes.remaining == length) Exact(literal)
    else if (bytes.remaining < length) JustBelow(literal)
    else JustAbove(literal)
  }

  /**
   * Parses the text of a decimal. Decimals are strings in the JSON of expressions (spec: "JSON Single-Value
   * Serialization"). Returns `None` for a decimal with too many digits, because comparing it would be slow.
   */
  private def numberOf(text: String): Option[BigDecimal] =
    try Some(new BigDecimal(text)).filter(v => v.precision <= MaxDigits && math.abs(v.scale) <= MaxDigits)
    catch { case _: NumberFormatException => None }

  /**
   * Parses a UUID. Accepts only the canonical form, regardless of case, whereas `UUID.fromString` also accepts shorter
   * texts.
   */
  def uuid(text: String): Option[UUID] =
    try Some(UUID.fromString(text)).filter(_.toString.equalsIgnoreCase(text))
    catch { case _: IllegalArgumentException => None }

  /**
   * Parses the ISO 8601 text of a date or time, or the canonical text of a UUID in lower case. Returns `None` for a
   * text in another form. A UUID in another form is not equal to the canonical text of any value, and it sorts
   * differently.
   */
  private def ofText(text: String, target: PrimitiveType): Option[Literal] = target match {
    case DateType => DateTime.parseDate(text).map(DateLiteral)
    case TimeType => DateTime.parseTime(text).map(TimeLiteral)
    case TimestampType => DateTime.parseTimestamp(text).map(TimestampLiteral)
    case TimestampTzType => DateTime.parseTimestampTz(text).map(TimestampTzLiteral)
    case TimestampNsType => DateTime.parseTimestampNs(text).map(TimestampNsLiteral)
    case TimestampTzNsType => DateTime.parseTimestampTzNs(text).map(TimestampTzNsLiteral)
    case UuidType => uuid(text).filter(_.toString == text).map(UuidLiteral)
    case _ => None
  }
}
