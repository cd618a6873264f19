package iceberglite.spec.expr

import java.math.{BigDecimal, RoundingMode}

import iceberglite.spec.types.{Literal, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** Parts of variants in filters and bounds (spec: "Bounds for Variant"). */
private[iceberglite] object VariantPart {

  /** Returns the name of a part in bounds: its normalized path (RFC 9535), such as `$['a']['b']`. */
  def nameOf(path: Seq[String]): String = path.map(stepOf).mkString("$", "", "")

  /** Returns the step to a field in a normalized path, such as `['a']`. */
  def stepOf(name: String): String = s"['${escaped(name)}']"

  private def escaped(name: String): String = name.flatMap {
    case '\b' => "\\b"
    case '\t' => "\\t"
    case '\n' => "\\n"
    case '\f' => "\\f"
    case '\r' => "\\r"
    case '\'' => "\\'"
    case '\\' => "\\\\"
    case c if c < ' ' => f"\\u${c.toInt}%04x"
    case c => c.toString
  }

  /**
   * Casts a bound of a part to a type as `variant_get` casts the values of the part. The result is absent unless the
   * cast preserves the order of all values of the bound's type that can be cast. It does not preserve the order of
   * strings that are cast to numbers or dates, for example.
   */
  def cast(bound: Literal, t: PrimitiveType): Option[Literal] = (bound, t) match {
    case (Exact(number), IntType) => integer(number).filter(_.isValidInt).map(v => IntLiteral(v.toInt))
    case (Exact(number), LongType) => integer(number).map(LongLiteral)
    case (Exact(number), DecimalType(precision, scale)) =>
      Some(number.setScale(scale, RoundingMode.HALF_UP)).filter(_.precision <= precision).map(DecimalLiteral)
    case (Exact(number), DoubleType) => Some(DoubleLiteral(number.doubleValue))
    // `variant_get` casts the digits of a float.
    case (FloatLiteral(v), DoubleType) => Some(DoubleLiteral(v.toString.toDouble))
    case (_: DoubleLiteral, DoubleType) | (_: FloatLiteral, FloatType) | (_: StringLiteral, StringType) |
        (_: DateLiteral, DateType) | (_: TimestampLiteral, TimestampType) | (_: TimestampTzLiteral, TimestampTzType) =>
      Some(bound)
    case _ => None
  }

  /** Whether a value is an integer or a decimal. */
  def isExact(value: Literal): Boolean = Exact.unapply(value).isDefined

  private object Exact {
    def unapply(value: Literal): Option[BigDecimal] = value match {
      case IntLiteral(v) => Some(BigDecimal.valueOf(v.toLong))
      case LongLiteral(v) => Some(BigDecimal.valueOf(v))
      case DecimalLiteral(v) => Some(v)
      case _ => None
    }
  }

  /** Returns a number without its fraction; absent if it is out of the range of longs. */
  private def integer(number: BigDecimal): Option[Long] =
    Some(number.toBigInteger).filter(_.bitLength < 64).map(_.longValue)
}

/**
 * The range of a part of the variants of a column.
 *
 * @param t the type to which the part is cast
 */
abstract private[iceberglite] class PartRange[-S](t: PrimitiveType) extends ColumnRange[S] {
  private val isFloating = t == FloatType || t == DoubleType

  /** Returns the lower and the upper bound of the part, before it is cast. Either may be absent. */
  protected def bounds(rows: S): (Option[Literal], Option[Literal])

  /** A variant need not have the part. */
  final override def mayBeNull(rows: S): Boolean = true

  /** Bounds of floats and doubles do not include NaN, which may also be the result of the cast of a string. */
  final override def mayBeNan(rows: S): Boolean = isFloating && !(checked(rows) match {
    case (Some(low), _) => VariantPart.isExact(low)
    case (_, high) => high.exists(VariantPart.isExact)
  })

  final override def lower(rows: S): Option[Literal] = cast(checked(rows)._1)

  final override def upper(rows: S): Option[Literal] = cast(checked(rows)._2)

  private def cast(bound: Option[Literal]): Option[Literal] =
    bound.flatMap(VariantPart.cast(_, t)).filterNot(Evaluate.isNan)

  /** Returns the bounds; none if they have different types, because they are then not those of values of one type. */
  private def checked(rows: S): (Option[Literal], Option[Literal]) = bounds(rows) match {
    case (Some(low), Some(high)) if low.getClass != high.getClass => (None, None)
    case both => both
  }
}
