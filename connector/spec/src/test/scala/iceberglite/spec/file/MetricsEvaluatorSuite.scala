package iceberglite.spec.file

import java.nio.ByteBuffer

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.spec.expr.{Bind, Evaluate, Expression, ExpressionGenerators, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.partition.{Bucket, Day, Hour, Month, PartitionTuple, Truncate, Void}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{DateTime, Literal, NestedField, PrimitiveType, SingleValue, Type}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

class MetricsEvaluatorSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import ExpressionGenerators._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 10000)

  private def file(records: Long, metrics: Metrics): ContentFile =
    ContentFile(Content.Data, "f.parquet", FileFormat.Parquet, 0, PartitionTuple.Empty, records, 1L, metrics)

  /**
   * States which metrics of a column a writer stores.
   *
   * @param width the length to which bounds are truncated
   * @param nanBounds whether both bounds of floating-point columns are NaN
   */
  private case class Writer(counts: Boolean, nans: Boolean, bounds: Boolean, width: Option[Int], nanBounds: Boolean)

  private val writers: Gen[Writer] = for {
    counts <- Gen.frequency(5 -> true, 1 -> false)
    nans <- Gen.frequency(3 -> true, 1 -> false)
    bounds <- Gen.frequency(5 -> true, 1 -> false)
    width <- Gen.option(Gen.choose(1, 3))
    nanBounds <- Gen.frequency(5 -> false, 1 -> true)
  } yield Writer(counts, nans, bounds, width, nanBounds)

  private def truncated(value: Literal, width: Int): Literal = value match {
    case _: StringLiteral | _: BinaryLiteral => Truncate(width)(value).get
    case other => other
  }

  /**
   * Truncates a value that is longer than `width`, and increments the last character or byte of the result. Returns
   * `None` if the last byte cannot be incremented.
   */
  private def truncatedUpward(value: Literal, width: Int): Option[Literal] = {
    val short = truncated(value, width)
    if (short == value) Some(value)
    else
      short match {
        case StringLiteral(text) =>
          val last = text.codePointBefore(text.length)
          val head = text.substring(0, text.length - Character.charCount(last))
          Some(StringLiteral(head + new String(Character.toChars(last + 1))))
        case BinaryLiteral(bytes) =>
          val copy = new Array[Byte](bytes.remaining)
          bytes.duplicate().get(copy)
          if ((copy.last & 0xff) == 0xff) None
          else {
            copy(copy.length - 1) = (copy.last + 1).toByte
            Some(BinaryLiteral(ByteBuffer.wrap(copy)))
          }
        case other => Some(other)
      }
  }

  private def nanOf(t: Type): Option[Literal] = t match {
    case FloatType => Some(FloatLiteral(Float.NaN))
    case DoubleType => Some(DoubleLiteral(Double.NaN))
    case _ => None
  }

  private def bounds(c: NestedField, values: Seq[Literal], w: Writer): (Option[Literal], Option[Literal]) = {
    val ordinary = values.filterNot(Evaluate.isNan)
    if (!w.bounds) (None, None)
    else if (w.nanBounds && nanOf(c.fieldType).isDefined) (nanOf(c.fieldType), nanOf(c.fieldType))
    else if (ordinary.isEmpty) (None, None)
    else {
      val (least, greatest) = (ordinary.min(Literal.ordering), ordinary.max(Literal.ordering))
      (Some(w.width.fold(least)(truncated(least, _))), w.width.fold(Option(greatest))(truncatedUpward(greatest, _)))
    }
  }

  private def metrics(columns: Seq[NestedField], rows: Seq[Row], byColumn: Map[Int, Writer]): Metrics = {
    def column(c: NestedField): Seq[Literal] = rows.flatMap(_(c.id))
    val counted = columns.filter(c => byColumn(c.id).counts)
    val nans = columns.filter(c => byColumn(c.id).nans && nanOf(c.fieldType).isDefined)
    val limits = columns.map(c => c.id -> bounds(c, column(c), byColumn(c.id)))
    MetricMaps(
      valueCounts = Some(counted.map(_.id -> rows.size.toLong).toMap),
      nullValueCounts = Some(counted.map(c => c.id -> rows.count(_(c.id).isEmpty).toLong).toMap),
      nanValueCounts = Some(nans.map(c => c.id -> column(c).count(Evaluate.isNan).toLong).toMap),
      lowerBounds = Some(limits.flatMap { case (id, (low, _)) => low.map(id -> SingleValue.encode(_)) }.toMap),
      upperBounds = Some(limits.flatMap { case (id, (_, high)) => high.map(id -> SingleValue.encode(_)) }.toMap)
    )
  }

  private val cases = for {
    used <- Gen.pick(2, columns).map(_.toVector)
    filter <- condition(used, Seq(Bucket(3), Truncate(1), Truncate(7), Day, Month, Void))
    rows <- Gen.choose(0, 5).flatMap(Gen.listOfN(_, row(used)))
    byColumn <- Gen.listOfN(used.size, writers).map(ws => used.map(_.id).zip(ws).toMap)
  } yield (filter, rows, file(rows.size.toLong, metrics(used, rows, byColumn)))

  test("a file with a matching row is never skipped") {
    forAll(cases) { case (filter, rows, f) =>
      assert(!rows.exists(matches(filter, _)) || new InclusiveMetrics(filter).mightMatch(f))
    }
  }

  test("the strict test is false for every file with a row that does not match") {
    forAll(cases) { case (filter, rows, f) =>
      assert(rows.forall(matches(filter, _)) || !new StrictMetrics(filter).allMatch(f))
    }
  }

  private def metricsOf(
      t: PrimitiveType,
      values: Long,
      nulls: Option[Long],
      nans: Option[Long],
      lower: Option[Literal],
      upper: Option[Literal]
  ): (PrimitiveType, ContentFile) = t -> file(
    values,
    MetricMaps(
      valueCounts = Some(Map(1 -> values)),
      nullValueCounts = nulls.map(n => Map(1 -> n)),
      nanValueCounts = nans.map(n => Map(1 -> n)),
      lowerBounds = lower.map(v => Map(1 -> SingleValue.encode(v))),
      upperBounds = upper.map(v => Map(1 -> SingleValue.encode(v)))
    )
  )

  private def bound(t: PrimitiveType, test: Term => Expression): Expression =
    Bind(test(Term.Named("c")), Schema(0, Vector(NestedField.optional(1, "c", t))), caseSensitive = true)

  private def mightMatch(file: (PrimitiveType, ContentFile), test: Term => Expression): Boolean =
    new InclusiveMetrics(bound(file._1, test)).mightMatch(file._2)

  private def allMatch(file: (PrimitiveType, ContentFile), test: Term => Expression): Boolean =
    new StrictMetrics(bound(file._1, test)).allMatch(file._2)

  private val fiveToTen = metricsOf(IntType, 9L, Some(0L), None, Some(IntLiteral(5)), Some(IntLiteral(10)))
  private val withNulls = metricsOf(IntType, 9L, Some(2L), None, Some(IntLiteral(5)), Some(IntLiteral(10)))

  test("a file is skipped when the bounds or the null count of a column rule out a match") {
    assert(!mightMatch(fiveToTen, LessThan(_, IntLiteral(5))))
    assert(mightMatch(fiveToTen, LessThanOrEqual(_, IntLiteral(5))))
    assert(!mightMatch(fiveToTen, GreaterThan(_, IntLiteral(10))))
    assert(!mightMatch(fiveToTen, Equal(_, IntLiteral(11))))
    assert(!mightMatch(fiveToTen, In(_, (11 to 5000).map(IntLiteral).toSet)))
    assert(!mightMatch(fiveToTen, IsNull(_)))
    assert(mightMatch(withNulls, IsNull(_)))
  }

  test("all rows of a file match when the bounds of a column without nulls are within the predicate's range") {
    assert(allMatch(fiveToTen, GreaterThanOrEqual(_, IntLiteral(5))))
    assert(allMatch(fiveToTen, NotEqual(_, IntLiteral(4))))
    assert(allMatch(fiveToTen, NotIn(_, Set(IntLiteral(4), IntLiteral(11)))))
    assert(!allMatch(withNulls, GreaterThanOrEqual(_, IntLiteral(5))))
    assert(!allMatch(withNulls, NotEqual(_, IntLiteral(4))))
    val onlyFive = metricsOf(IntType, 9L, Some(0L), None, Some(IntLiteral(5)), Some(IntLiteral(5)))
    assert(allMatch(onlyFive, Equal(_, IntLiteral(5))))
    assert(allMatch(onlyFive, In(_, Set(IntLiteral(5), IntLiteral(6)))))
    assert(!mightMatch(onlyFive, NotEqual(_, IntLiteral(5))))
  }

  test("for a file without metrics, some rows may match, but it is not certain that all rows match") {
    val bare = IntType -> file(9L, Metrics.Empty)
    Seq[Term => Expression](IsNull(_), NotNull(_), Equal(_, IntLiteral(1)), NotEqual(_, IntLiteral(1))).foreach { t =>
      assert(mightMatch(bare, t))
      assert(!allMatch(bare, t))
    }
  }

  test("in a file without rows, no row can match, and all rows match") {
    val empty = IntType -> file(0L, Metrics.Empty)
    assert(!mightMatch(empty, IsNull(_)))
    assert(allMatch(empty, IsNull(_)))
  }

  test("NaN is greater than the upper bound, and a missing NaN count means that there may be NaNs") {
    def floats(nans: Option[Long]) =
      metricsOf(DoubleType, 9L, Some(0L), nans, Some(DoubleLiteral(0.0)), Some(DoubleLiteral(1.0)))
    Seq[Term => Expression](
      GreaterThan(_, DoubleLiteral(5.0)),
      GreaterThanOrEqual(_, DoubleLiteral(5.0)),
      IsNan(_)
    ).foreach { test =>
      assert(mightMatch(floats(None), test))
      assert(mightMatch(floats(Some(1L)), test))
      assert(!mightMatch(floats(Some(0L)), test))
    }
    assert(!mightMatch(floats(None), Equal(_, DoubleLiteral(5.0))))
    assert(!allMatch(floats(None), LessThan(_, DoubleLiteral(5.0))))
    assert(allMatch(floats(Some(0L)), LessThan(_, DoubleLiteral(5.0))))
  }

  test("counts show which predicates can match a column that contains only NaNs or only nulls") {
    val nans = metricsOf(DoubleType, 9L, Some(2L), Some(7L), None, None)
    assert(!mightMatch(nans, Equal(_, DoubleLiteral(1.0))))
    assert(!mightMatch(nans, LessThan(_, DoubleLiteral(1.0))))
    assert(mightMatch(nans, GreaterThan(_, DoubleLiteral(1.0))))
    val nulls = metricsOf(DoubleType, 9L, Some(9L), None, None, None)
    assert(!mightMatch(nulls, GreaterThan(_, DoubleLiteral(1.0))))
    assert(!mightMatch(nulls, NotNull(_)))
    assert(allMatch(nulls, IsNull(_)))
    assert(allMatch(nulls, NotNan(_)))
    assert(allMatch(metricsOf(DoubleType, 9L, Some(0L), Some(9L), None, None), IsNan(_)))
  }

  test("zero and negative zero are equal, regardless of the sign of a bound") {
    val zero = metricsOf(DoubleType, 9L, Some(0L), Some(0L), Some(DoubleLiteral(0.0)), Some(DoubleLiteral(0.0)))
    assert(mightMatch(zero, Equal(_, DoubleLiteral(-0.0))))
    assert(mightMatch(zero, LessThanOrEqual(_, DoubleLiteral(-0.0))))
    assert(!mightMatch(zero, LessThan(_, DoubleLiteral(0.0))))
    assert(allMatch(zero, Equal(_, DoubleLiteral(-0.0))))
  }

  test("prefix predicates are evaluated against truncated bounds") {
    val texts = metricsOf(StringType, 9L, Some(0L), None, Some(StringLiteral("b")), Some(StringLiteral("bd")))
    assert(mightMatch(texts, StartsWith(_, "bcd")))
    assert(mightMatch(texts, StartsWith(_, "b")))
    assert(!mightMatch(texts, StartsWith(_, "a")))
    assert(!mightMatch(texts, StartsWith(_, "c")))
    assert(!mightMatch(texts, NotStartsWith(_, "b")))
    assert(allMatch(texts, StartsWith(_, "b")))
    assert(allMatch(texts, NotStartsWith(_, "ab")))
  }

  test("bounds that were written before a type promotion are decoded as values of the new type") {
    val promoted = metricsOf(LongType, 9L, Some(0L), None, Some(IntLiteral(5)), Some(IntLiteral(10)))
    assert(!mightMatch(promoted, GreaterThan(_, LongLiteral(10L))))
    assert(allMatch(promoted, GreaterThan(_, LongLiteral(4L))))
  }

  test("a predicate on an order-preserving transform is evaluated with the transformed bounds") {
    val day = DateTime.MicrosPerDay
    val (lower, upper) = (TimestampLiteral(day), TimestampLiteral(2 * day))
    val twoDays = metricsOf(TimestampType, 9L, Some(0L), None, Some(lower), Some(upper))
    def date(d: Int)(t: Term) = Equal(Term.Transformed(Day, t), DateLiteral(d))
    assert(!mightMatch(twoDays, date(0)))
    assert(mightMatch(twoDays, date(1)))
    assert(!mightMatch(twoDays, date(3)))
    assert(allMatch(twoDays, t => GreaterThan(Term.Transformed(Day, t), DateLiteral(0))))
    assert(mightMatch(twoDays, t => Equal(Term.Transformed(Bucket(4), t), IntLiteral(9))))
  }

  test("a predicate on a transform that overflows is not evaluated with the transformed bounds") {
    val ints = metricsOf(IntType, 9L, Some(0L), None, Some(IntLiteral(Int.MinValue)), Some(IntLiteral(Int.MaxValue)))
    assert(mightMatch(ints, t => Equal(Term.Transformed(Truncate(7), t), IntLiteral(0))))
    val (start, end) = (Some(TimestampLiteral(Long.MinValue)), Some(TimestampLiteral(Long.MaxValue)))
    val moments = metricsOf(TimestampType, 9L, Some(0L), None, start, end)
    assert(mightMatch(moments, t => Equal(Term.Transformed(Hour, t), IntLiteral(0))))
  }

  test("counts under the id of a list are ignored") {
    val list = NestedField.optional(1, "c", ListType(2, IntType, elementRequired = false))
    val nulls = file(9L, MetricMaps(valueCounts = Some(Map(1 -> 9L)), nullValueCounts = Some(Map(1 -> 9L))))
    val notNull = Bind(NotNull(Term.Named("c")), Schema(0, Vector(list)), caseSensitive = true)
    assert(new InclusiveMetrics(notNull).mightMatch(nulls))
    assert(!new StrictMetrics(notNull).allMatch(nulls))
  }
}
