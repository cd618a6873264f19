package iceberglite.spec.expr

import java.math.{BigDecimal, BigInteger}
import java.nio.ByteBuffer
import java.util.UUID

import org.scalacheck.Gen

import iceberglite.spec.expr.Expression._
import iceberglite.spec.partition.{
  Bucket,
  Day,
  Hour,
  Identity,
  Month,
  Transform,
  Truncate,
  UnknownTransform,
  Void,
  Year
}
import iceberglite.spec.types.{DateTime, Literal, NestedField, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** Generates values that are close together or at the ends of their ranges, and predicates on such values. */
object ExpressionGenerators {
  type Row = Map[Int, Option[Literal]]

  val types: Seq[PrimitiveType] = Seq(
    BooleanType,
    IntType,
    LongType,
    FloatType,
    DoubleType,
    DecimalType(9, 2),
    DateType,
    TimeType,
    TimestampType,
    TimestampTzType,
    TimestampNsType,
    TimestampTzNsType,
    StringType,
    UuidType,
    FixedType(2),
    BinaryType
  )

  /** One column for each type. The id of a column is its position in the list, counted from 1. */
  val columns: Vector[NestedField] =
    types.zipWithIndex.map { case (t, i) => NestedField.optional(i + 1, s"c${i + 1}", t) }.toVector

  def term(column: NestedField): Term = Term.Bound(column, column.name)

  private val ints: Gen[Int] = Gen.frequency(
    8 -> Gen.choose(-25, 25),
    1 -> Gen.oneOf(0, 8, 15, 24).map(Int.MinValue + _),
    1 -> Gen.oneOf(0, 8, 15, 24).map(Int.MaxValue - _)
  )

  private val longs: Gen[Long] = Gen.frequency(
    8 -> Gen.choose(-25L, 25L),
    1 -> Gen.oneOf(0L, 8L, 15L, 24L).map(Long.MinValue + _),
    1 -> Gen.oneOf(0L, 8L, 15L, 24L).map(Long.MaxValue - _)
  )

  private val floats: Gen[Double] =
    Gen.oneOf(0.0, -0.0, 1.0, -1.0, 1.5, -1.5, 2.0, Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity)

  /**
   * Generates times close to the start of hours, days, months and years near 1970, and the limits of the range.
   *
   * @param perMicro the number of units of a time in a microsecond: 1 for microseconds, 1000 for nanoseconds
   */
  private def moments(perMicro: Long): Gen[Long] = {
    val starts = Gen.oneOf(
      Gen.choose(-30L, 30L).map(_ * DateTime.MicrosPerHour),
      Gen.choose(-3L, 3L).map(_ * DateTime.MicrosPerDay),
      Gen.oneOf(-366L, -365L, -334L, -31L, 31L, 59L, 365L, 730L).map(_ * DateTime.MicrosPerDay)
    )
    val near = for (start <- starts; by <- Gen.choose(-2L, 2L)) yield start * perMicro + by
    Gen.frequency(12 -> near, 1 -> Gen.oneOf(Long.MinValue, Long.MaxValue))
  }

  private val texts: Gen[String] = Gen
    .choose(0, 4)
    .flatMap(n => Gen.listOfN(n, Gen.oneOf("a", "b", "é", "中", "\uFFFD", "\uD83D\uDE00", "\uD83D\uDE01")))
    .map(_.mkString)

  private def bytes(length: Gen[Int]): Gen[ByteBuffer] =
    length.flatMap(n => Gen.listOfN(n, Gen.oneOf(0, 1, 127, 128, 255))).map(all =>
      ByteBuffer.wrap(all.map(_.toByte).toArray)
    )

  def value(t: PrimitiveType): Gen[Literal] = t match {
    case BooleanType => Gen.oneOf(true, false).map(BooleanLiteral)
    case IntType => ints.map(IntLiteral)
    case LongType => longs.map(LongLiteral)
    case FloatType => floats.map(v => FloatLiteral(v.toFloat))
    case DoubleType => floats.map(DoubleLiteral)
    case DecimalType(_, scale) =>
      Gen.choose(-250L, 250L).map(v => DecimalLiteral(new BigDecimal(BigInteger.valueOf(v), scale)))
    case DateType =>
      Gen.oneOf(Gen.choose(-800, 800), Gen.oneOf(-366, -365, -32, -31, -1, 0, 1, 365), ints).map(DateLiteral)
    case TimeType => Gen.choose(0L, 20L).map(TimeLiteral)
    case TimestampType => moments(1L).map(TimestampLiteral)
    case TimestampTzType => moments(1L).map(TimestampTzLiteral)
    case TimestampNsType => moments(1000L).map(TimestampNsLiteral)
    case TimestampTzNsType => moments(1000L).map(TimestampTzNsLiteral)
    case StringType => texts.map(StringLiteral)
    case UuidType =>
      for (high <- Gen.oneOf(0L, 1L, -1L, Long.MinValue); low <- Gen.oneOf(0L, 1L, -1L))
        yield UuidLiteral(new UUID(high, low))
    case FixedType(n) => bytes(Gen.const(n)).map(FixedLiteral)
    case BinaryType => bytes(Gen.choose(0, 4)).map(BinaryLiteral)
    case other => throw new IllegalArgumentException(s"No values of type $other")
  }

  def nullable(t: PrimitiveType): Gen[Option[Literal]] =
    Gen.frequency(1 -> Gen.const(None), 5 -> value(t).map(Some(_)))

  /** Generates a predicate on a column or a transformed column that is valid for its type. */
  def predicate(term: Term, t: PrimitiveType): Gen[Predicate] = {
    val literal = value(t)
    val literals = Gen.choose(1, 4).flatMap(Gen.listOfN(_, literal)).map(_.toSet)
    val comparisons = Gen.oneOf(
      literal.map(LessThan(term, _)),
      literal.map(LessThanOrEqual(term, _)),
      literal.map(GreaterThan(term, _)),
      literal.map(GreaterThanOrEqual(term, _)),
      literal.map(Equal(term, _)),
      literal.map(NotEqual(term, _)),
      literals.map(In(term, _)),
      literals.map(NotIn(term, _))
    )
    val nulls = Gen.oneOf[Predicate](IsNull(term), NotNull(term))
    val others: Gen[Predicate] = t match {
      case StringType => Gen.oneOf(texts.map(StartsWith(term, _)), texts.map(NotStartsWith(term, _)))
      case FloatType | DoubleType => Gen.oneOf[Predicate](IsNan(term), NotNan(term))
      case _ => comparisons
    }
    Gen.frequency(8 -> comparisons, 2 -> others, 1 -> nulls)
  }

  def expression(leaf: Gen[Expression], depth: Int): Gen[Expression] =
    if (depth == 0) leaf
    else {
      val smaller = expression(leaf, depth - 1)
      Gen.frequency(
        2 -> leaf,
        2 -> (for (l <- smaller; r <- smaller) yield And(l, r)),
        2 -> (for (l <- smaller; r <- smaller) yield Or(l, r)),
        1 -> smaller.map(Not)
      )
    }

  /** Generates expressions on the given columns, and on the columns after the given transforms. */
  def condition(columns: Seq[NestedField], transforms: Seq[Transform] = Nil): Gen[Expression] = {
    val leaf = Gen.oneOf(columns).flatMap { column =>
      val source = column.fieldType.asInstanceOf[PrimitiveType]
      val possible = transforms.filter(_.canTransform(source))
      val plain = predicate(term(column), source)
      if (possible.isEmpty) plain
      else {
        val transformed = Gen.oneOf(possible).flatMap { t =>
          predicate(Term.Transformed(t, term(column)), t.resultType(source))
        }
        Gen.frequency(3 -> plain, 1 -> transformed)
      }
    }
    Gen.frequency(20 -> expression(leaf, 3), 1 -> Gen.oneOf[Expression](AlwaysTrue, AlwaysFalse))
  }

  def row(columns: Seq[NestedField]): Gen[Row] =
    Gen.sequence[Vector[(Int, Option[Literal])], (Int, Option[Literal])](columns.map { c =>
      nullable(c.fieldType.asInstanceOf[PrimitiveType]).map(c.id -> _)
    }).map(_.toMap)

  /** Returns transforms of each kind that supports the type, and an unknown transform. */
  def transforms(source: PrimitiveType): Seq[Transform] =
    Seq(Identity, Bucket(3), Truncate(1), Truncate(2), Truncate(7), Truncate(10), Year, Month, Day, Hour, Void)
      .filter(_.canTransform(source)) :+ UnknownTransform("later")

  def matches(e: Expression, row: Row): Boolean = Evaluate.rows[Row](e, id => _(id)).apply(row)
}
