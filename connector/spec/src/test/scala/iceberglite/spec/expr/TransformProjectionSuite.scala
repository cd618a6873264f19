package iceberglite.spec.expr

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.PartitionRules
import iceberglite.spec.expr.Expression._
import iceberglite.spec.partition.{Bucket, Day, Hour, Month, Transform, Truncate, UnknownTransform, Void, Year}
import iceberglite.spec.types.{DateTime, Literal, NestedField, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

class TransformProjectionSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import ExpressionGenerators._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 20000)

  private def target(t: Transform, source: PrimitiveType): NestedField =
    NestedField.optional(1000, "p", t.resultType(source))

  private case class Case(t: Transform, column: NestedField, predicate: Predicate, value: Option[Literal]) {
    val field: NestedField = target(t, column.fieldType.asInstanceOf[PrimitiveType])

    def inclusive(partition: Option[Literal]): Boolean =
      t.project(field, predicate).forall(e => Evaluate.rows[Option[Literal]](e, _ => identity).apply(partition))

    def strict(partition: Option[Literal]): Boolean =
      t.projectStrict(field, predicate).exists(e => Evaluate.rows[Option[Literal]](e, _ => identity).apply(partition))
  }

  private def cases(isIncluded: Transform => Boolean): Gen[Case] = for {
    column <- Gen.oneOf(columns.filter(c => transforms(typeOf(c)).exists(isIncluded)))
    t <- Gen.oneOf(transforms(typeOf(column)).filter(isIncluded))
    p <- predicate(term(column), typeOf(column))
    value <- nullable(typeOf(column))
  } yield Case(t, column, p, value)

  private def typeOf(c: NestedField): PrimitiveType = c.fieldType.asInstanceOf[PrimitiveType]

  test("an inclusive projection is true for the partition of every matching row") {
    forAll(cases(!_.isInstanceOf[UnknownTransform])) { c =>
      whenever(EvaluatedPredicate.on(c.value, c.predicate)) {
        assert(c.inclusive(c.value.flatMap(c.t(_))))
      }
    }
  }

  test("a strict projection is false for the partition of every row that does not match") {
    forAll(cases(!_.isInstanceOf[UnknownTransform])) { c =>
      whenever(!EvaluatedPredicate.on(c.value, c.predicate)) {
        assert(!c.strict(c.value.flatMap(c.t(_))))
      }
    }
  }

  test("projections are correct for files of writers that rounded times before 1970 toward zero") {
    forAll(cases(t => Seq(Year, Month, Day, Hour).contains(t))) { c =>
      val partition = c.value.flatMap(roundedTowardZero(c.t, _))
      val matches = EvaluatedPredicate.on(c.value, c.predicate)
      assert(c.inclusive(partition) || !matches)
      assert(matches || !c.strict(partition))
    }
  }

  /**
   * Returns the partition value of writers that round years, months, days and hours before 1970 toward zero.
   * Such writers convert a date to its day correctly.
   */
  private def roundedTowardZero(t: Transform, value: Literal): Option[Literal] = (value, t(value)) match {
    case (_: DateLiteral, right) if t == Day => right
    case (v, Some(IntLiteral(n))) if n < 0 && !isStart(t, v) => Some(IntLiteral(n + 1))
    case (v, Some(DateLiteral(n))) if n < 0 && !isStart(t, v) => Some(DateLiteral(n + 1))
    case (_, right) => right
  }

  private def isStart(t: Transform, value: Literal): Boolean = t(value) != t(previousValue(value))

  private def previousValue(value: Literal): Literal = value match {
    case DateLiteral(v) => DateLiteral(math.max(v, Int.MinValue + 1) - 1)
    case TimestampLiteral(v) => TimestampLiteral(math.max(v, Long.MinValue + 1) - 1)
    case TimestampTzLiteral(v) => TimestampTzLiteral(math.max(v, Long.MinValue + 1) - 1)
    case TimestampNsLiteral(v) => TimestampNsLiteral(math.max(v, Long.MinValue + 1) - 1)
    case TimestampTzNsLiteral(v) => TimestampTzNsLiteral(math.max(v, Long.MinValue + 1) - 1)
    case other => other
  }

  private def projected(t: Transform, p: Predicate): Option[String] =
    t.project(target(t, typeOf(bound(p))), p).map(_.toString)

  private def projectedStrict(t: Transform, p: Predicate): Option[String] =
    t.projectStrict(target(t, typeOf(bound(p))), p).map(_.toString)

  private def bound(p: Predicate): NestedField = p.term match {
    case Term.Bound(field, _) => field
    case other => fail(s"$other is not bound")
  }

  private val number = Term.Bound(NestedField.optional(1, "n", IntType), "n")
  private val text = Term.Bound(NestedField.optional(2, "s", StringType), "s")
  private val moment = Term.Bound(NestedField.optional(3, "ts", TimestampType), "ts")
  private val noon = TimestampLiteral(DateTime.parseTimestamp("2024-05-01T12:00:00").get)
  private val midnight = TimestampLiteral(DateTime.parseTimestamp("2024-05-01T00:00:00").get)

  test("an exclusive bound is projected like the adjacent inclusive bound") {
    assert(projected(Truncate(8), LessThan(number, IntLiteral(16))).contains("p <= 8"))
    assert(projected(Truncate(8), GreaterThan(number, IntLiteral(15))).contains("p >= 16"))
    assert(projected(Day, LessThan(moment, midnight)).contains("p <= DATE '2024-04-30'"))
    assert(projected(Day, LessThanOrEqual(moment, midnight)).contains("p <= DATE '2024-05-01'"))
    assert(projected(Day, GreaterThan(moment, noon)).contains("p >= DATE '2024-05-01'"))
    assert(projectedStrict(Day, GreaterThanOrEqual(moment, midnight)).contains("p > DATE '2024-04-30'"))
    assert(projectedStrict(Day, GreaterThanOrEqual(moment, noon)).contains("p > DATE '2024-05-01'"))
    assert(projectedStrict(Day, LessThan(moment, midnight)).contains("p < DATE '2024-05-01'"))
  }

  test("projections of truncate are correct for the smallest numbers, which underflow") {
    assert(projected(Truncate(10), LessThan(number, IntLiteral(20))).contains("(p <= 10 OR p = 2147483646)"))
    assert(projected(Truncate(10), GreaterThan(number, IntLiteral(Int.MinValue))).contains("p IS NOT NULL"))
    assert(projectedStrict(Truncate(10), GreaterThan(number, IntLiteral(5))).contains("(p > 5 AND p <> 2147483646)"))
    assert(projectedStrict(Truncate(10), LessThan(number, IntLiteral(Int.MinValue + 1))).isEmpty)
  }

  test("projections of truncate on a promoted long column are correct for rows that were written as int") {
    val column = columns.find(_.fieldType == LongType).get
    val smallest = Gen.choose(0, 30).map(Int.MinValue + _)
    val cases = for {
      width <- Gen.oneOf(1, 2, 7, 10)
      v <- Gen.frequency(3 -> smallest, 1 -> value(IntType).map(_.asInstanceOf[IntLiteral].value))
      limit <- Gen.frequency(3 -> smallest.map(n => LongLiteral(n.toLong)), 1 -> value(LongType))
      p <- predicate(term(column), LongType)
      near <- Gen.oneOf[Predicate](
        LessThan(term(column), limit),
        LessThanOrEqual(term(column), limit),
        GreaterThan(term(column), limit),
        GreaterThanOrEqual(term(column), limit),
        Equal(term(column), limit),
        NotEqual(term(column), limit),
        In(term(column), Set(limit)),
        NotIn(term(column), Set(limit))
      )
      q <- Gen.oneOf(p, near)
    } yield (Case(Truncate(width), column, q, Some(LongLiteral(v.toLong))), Truncate(width).ofInt(v))
    forAll(cases) { case (c, written) =>
      val partition = Some(LongLiteral(written.toLong))
      if (EvaluatedPredicate.on(c.value, c.predicate)) assert(c.inclusive(partition)) else assert(!c.strict(partition))
    }
  }

  test("projections of hour are correct for hours that overflow") {
    val hours = Hour.project(target(Hour, TimestampType), GreaterThan(moment, TimestampLiteral(0L))).get
    val infinity = Hour(TimestampLiteral(Long.MaxValue))
    assert(Evaluate.rows[Option[Literal]](hours, _ => identity).apply(infinity))
    assert(projected(Hour, LessThan(moment, TimestampLiteral(Long.MaxValue))).contains("p IS NOT NULL"))
    assert(projectedStrict(Hour, LessThan(moment, TimestampLiteral(Long.MaxValue))).isEmpty)
  }

  test("the inclusive projection of a prefix is a prefix test if it is shorter than the width, else an equality") {
    assert(projected(Truncate(2), StartsWith(text, "a")).contains("p LIKE 'a%'"))
    assert(projected(Truncate(2), StartsWith(text, "ab")).contains("p = 'ab'"))
    assert(projected(Truncate(2), StartsWith(text, "abc")).contains("p = 'ab'"))
    assert(projected(Truncate(2), NotStartsWith(text, "abc")).isEmpty)
    assert(projectedStrict(Truncate(2), StartsWith(text, "ab")).contains("p = 'ab'"))
    assert(projectedStrict(Truncate(2), StartsWith(text, "abc")).isEmpty)
    assert(projectedStrict(Truncate(2), NotStartsWith(text, "abc")).contains("p <> 'ab'"))
  }

  test("bucket projects equality only inclusively, and inequality only strictly") {
    val bucketOfThree = Bucket(16)(IntLiteral(3)).get
    assert(Bucket(16).project(target(Bucket(16), IntType), Equal(number, IntLiteral(3))).contains(
      Equal(Term.Bound(target(Bucket(16), IntType), "p"), bucketOfThree)
    ))
    assert(projected(Bucket(16), LessThan(number, IntLiteral(3))).isEmpty)
    assert(projected(Bucket(16), NotEqual(number, IntLiteral(3))).isEmpty)
    assert(projectedStrict(Bucket(16), Equal(number, IntLiteral(3))).isEmpty)
    assert(projectedStrict(Bucket(16), NotEqual(number, IntLiteral(3))).isDefined)
  }

  test("void and unknown transforms have no projection, not even for null tests", PartitionRules.unknownKept) {
    Seq(Void, UnknownTransform("later")).foreach { t =>
      assert(projected(t, IsNull(number)).isEmpty)
      assert(projectedStrict(t, IsNull(number)).isEmpty)
    }
  }
}
