package iceberglite.spec.partition

import java.math.{BigDecimal, BigInteger}
import java.nio.ByteBuffer

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.expr.{Expression, Predicate, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/**
 * The truncate transform (spec: "Truncate Transform Details"). Numbers are rounded down to a multiple of `width`,
 * strings are cut to `width` code points, and binary values are cut to `width` bytes.
 *
 * The smallest ints and longs would be rounded down to a number below the minimum of the type. As in Apache Iceberg,
 * the result of such a number underflows and becomes a large number. The transform preserves the order of all other
 * numbers. The projections take the partition of the underflowed results into account, even if an int column was
 * promoted to long.
 */
final case class Truncate(width: Int) extends Transform {
  override val name: String = s"truncate[$width]"
  private val wideWidth: BigInteger = BigInteger.valueOf(width.toLong)

  override def canTransform(source: Type): Boolean = source match {
    case IntType | LongType | _: DecimalType | StringType | BinaryType => true
    case _ => false
  }

  override def resultType(source: PrimitiveType): PrimitiveType = source

  def ofInt(v: Int): Int = v - Math.floorMod(v, width)

  def ofLong(v: Long): Long = v - Math.floorMod(v, width.toLong)

  /** Truncates the unscaled value of a decimal. A width of 1 is one unit of the last digit. */
  def ofUnscaled(v: BigInteger): BigInteger = v.subtract(v.mod(wideWidth))

  /** Returns the first `width` code points of a string. A surrogate pair is never split. */
  def ofString(v: String): String =
    if (v.length <= width || v.codePointCount(0, v.length) <= width) v
    else v.substring(0, v.offsetByCodePoints(0, width))

  /** Returns the first `width` bytes of a buffer, without copying them. */
  def ofBytes(v: ByteBuffer): ByteBuffer =
    if (v.remaining <= width) v
    else {
      val cut = v.duplicate()
      cut.limit(v.position() + width)
      cut
    }

  override def apply(value: Literal): Option[Literal] = Some(truncate(value))

  override def preservesOrder: Boolean = true

  override def project(target: NestedField, predicate: Predicate): Option[Expression] = {
    val field = Term.Bound(target, target.name)
    predicate match {
      case IsNull(_) => Some(IsNull(field))
      case NotNull(_) => Some(NotNull(field))
      case LessThan(_, v) => Some(atMost(field, AdjacentValue.below(v)))
      case LessThanOrEqual(_, v) => Some(atMost(field, v))
      case GreaterThan(_, v) => Some(atLeast(field, AdjacentValue.above(v)))
      case GreaterThanOrEqual(_, v) => Some(atLeast(field, v))
      case Equal(_, v) => Some(oneOf(field, partitionValues(v)))
      case In(_, vs) => Some(In(field, vs.flatMap(partitionValues)))
      case NotEqual(_, v) => if (isUntruncated(v)) Some(NotEqual(field, v)) else None
      case NotIn(_, vs) => Some(vs.filter(isUntruncated)).filter(_.nonEmpty).map(NotIn(field, _))
      case StartsWith(_, prefix) =>
        Some(if (codePoints(prefix) < width) StartsWith(field, prefix) else Equal(field, truncateString(prefix)))
      case NotStartsWith(_, prefix) => if (codePoints(prefix) > width) None else Some(notPrefix(field, prefix))
      case _: IsNan | _: NotNan | _: BoxIntersects | _: BoxDisjoint => None
    }
  }

  override def projectStrict(target: NestedField, predicate: Predicate): Option[Expression] = {
    val field = Term.Bound(target, target.name)
    predicate match {
      case IsNull(_) => Some(IsNull(field))
      case NotNull(_) => Some(NotNull(field))
      case LessThan(_, v) => below(field, v)
      case LessThanOrEqual(_, v) => below(field, AdjacentValue.above(v))
      // Truncation rounds down. Therefore, if there is no underflow, a partition value is not greater than the column
      // values in the partition.
      case GreaterThan(_, v) => Some(exceptUnderflows(field, v, GreaterThan(field, v)))
      case GreaterThanOrEqual(_, v) => Some(exceptUnderflows(field, v, GreaterThanOrEqual(field, v)))
      case Equal(_, v) => if (isUntruncated(v)) Some(Equal(field, v)) else None
      case In(_, vs) => Some(vs.filter(isUntruncated)).filter(_.nonEmpty).map(In(field, _))
      case NotEqual(_, v) => Some(negate(oneOf(field, partitionValues(v))))
      case NotIn(_, vs) => Some(NotIn(field, vs.flatMap(partitionValues)))
      case StartsWith(_, prefix) =>
        val length = codePoints(prefix)
        if (length < width) Some(StartsWith(field, prefix))
        else if (length == width) Some(Equal(field, StringLiteral(prefix)))
        else None
      case NotStartsWith(_, prefix) => Some(notPrefix(field, prefix))
      case _: IsNan | _: NotNan | _: BoxIntersects | _: BoxDisjoint => None
    }
  }

  override def toHuman(value: Literal): String = Identity.toHuman(value)

  override def defaultFieldName(source: String): String = s"${source}_trunc"

  private def truncate(value: Literal): Literal = value match {
    case IntLiteral(v) => IntLiteral(ofInt(v))
    case LongLiteral(v) => LongLiteral(ofLong(v))
    case DecimalLiteral(v) => DecimalLiteral(new BigDecimal(ofUnscaled(v.unscaledValue), v.scale))
    case StringLiteral(v) => truncateString(v)
    case BinaryLiteral(v) => BinaryLiteral(ofBytes(v))
    case other => throw InvalidArgument(
        "truncate source",
        other.toString,
        s"Values of type ${other.dataType} cannot be truncated"
      )
  }

  private def atMost(field: Term, v: Literal): Expression =
    underflows(v).map(Equal(field, _)).foldLeft[Expression](LessThanOrEqual(field, truncate(v)))(or)

  private def atLeast(field: Term, v: Literal): Expression =
    if (underflows(v).contains(truncate(v))) NotNull(field) else GreaterThanOrEqual(field, truncate(v))

  private def below(field: Term, v: Literal): Option[Expression] =
    if (underflows(v).contains(truncate(v))) None else Some(LessThan(field, truncate(v)))

  private def exceptUnderflows(field: Term, v: Literal, test: Expression): Expression =
    underflows(v).map(NotEqual(field, _)).foldLeft(test)(and)

  /**
   * Returns the partition values that rows with the column value `v` may have. A long that fits in an int may have two
   * partition values, because the row may have been written before the column was promoted from int.
   */
  private def partitionValues(v: Literal): Set[Literal] = v match {
    case LongLiteral(n) if n >= Int.MinValue && n <= Int.MaxValue =>
      Set(truncate(v), LongLiteral(ofInt(n.toInt).toLong))
    case _ => Set(truncate(v))
  }

  private def notPrefix(field: Term, prefix: String): Expression =
    if (codePoints(prefix) < width) NotStartsWith(field, prefix) else NotEqual(field, truncateString(prefix))

  /**
   * Returns the partition values that result from an underflow: the truncated minimum of the column's type and, for a
   * long column, the truncated minimum of int, because the column may have been promoted from int.
   */
  private def underflows(v: Literal): Seq[Literal] = v match {
    case _: IntLiteral => intUnderflow.map(IntLiteral).toSeq
    case _: LongLiteral =>
      val ofInts = intUnderflow.map(n => LongLiteral(n.toLong)).toSeq
      ofInts ++ (if (ofLong(Long.MinValue) == Long.MinValue) None else Some(LongLiteral(ofLong(Long.MinValue))))
    case _ => Nil
  }

  /** Returns the truncated minimum of int; absent if the truncation does not underflow. */
  private def intUnderflow: Option[Int] = Some(ofInt(Int.MinValue)).filter(_ != Int.MinValue)

  /** Whether it is certain that `v` is the only column value with the partition value `v`. */
  private def isUntruncated(v: Literal): Boolean = v match {
    case StringLiteral(text) => codePoints(text) < width
    case BinaryLiteral(bytes) => bytes.remaining < width
    case _ => false
  }

  private def oneOf(field: Term, values: Set[Literal]): Expression =
    if (values.size == 1) Equal(field, values.head) else In(field, values)

  private def truncateString(text: String): Literal = StringLiteral(ofString(text))

  private def codePoints(text: String): Int = text.codePointCount(0, text.length)
}

object Truncate extends TransformFamily {
  override val name = "truncate"

  override def parse(json: String): Option[Transform] = Transforms.parseParameter(name, json).map(Truncate(_))
}
