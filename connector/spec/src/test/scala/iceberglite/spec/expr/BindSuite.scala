package iceberglite.spec.expr

import java.math.BigDecimal

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.spec.IcebergError
import iceberglite.spec.expr.Expression._
import iceberglite.spec.partition.{Bucket, Day, Hour, Identity, Truncate, UnknownTransform, Void, Year}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

class BindSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import ExpressionGenerators._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 5000)

  private val schema = Schema(
    7,
    Vector(
      NestedField.optional(1, "i", IntType),
      NestedField.required(2, "r", IntType),
      NestedField.optional(3, "f", FloatType),
      NestedField.optional(4, "d", DecimalType(4, 2)),
      NestedField.optional(5, "s", StringType),
      NestedField.optional(6, "date", DateType),
      NestedField.optional(7, "ts", TimestampType),
      NestedField.optional(8, "place", StructType(Vector(NestedField.required(9, "lat", DoubleType)))),
      NestedField.optional(10, "tags", ListType(11, StringType, elementRequired = true)),
      NestedField.optional(12, "u", UnknownType),
      NestedField.optional(13, "dotted.name", IntType),
      NestedField.optional(14, "fixed", FixedType(2)),
      NestedField.optional(15, "id", UuidType)
    )
  )

  private def bind(e: Expression, caseSensitive: Boolean = true): String = Bind(e, schema, caseSensitive).toString

  private def column(name: String): Term = Term.Named(name)

  test("column names are bound to fields with their full names") {
    Bind(Equal(column("place.lat"), DoubleLiteral(1.0)), schema, caseSensitive = true) match {
      case Equal(Term.Bound(field, name), _) => assert(field.id == 9 && name == "place.lat")
      case other => fail(other.toString)
    }
    assert(bind(IsNull(column("dotted.name"))) == "dotted.name IS NULL")
    assert(bind(IsNull(column("PLACE.LAT")), caseSensitive = false) == "place.lat IS NULL")
  }

  test("an unknown name and, if names are case-sensitive, a name in another case are rejected") {
    Seq("nope", "PLACE.LAT").foreach { name =>
      val e = intercept[IcebergError.NotFound](bind(IsNull(column(name))))
      assert(e.name == name)
    }
  }

  test("a column inside a list or map is rejected") {
    val e = intercept[IcebergError.InvalidArgument](bind(Equal(column("tags.element"), StringLiteral("a"))))
    assert(e.getMessage.contains("tags.element"))
    assert(bind(NotNull(column("tags"))) == "tags IS NOT NULL")
  }

  test("literals that cannot be compared with the column are rejected") {
    Seq(
      Equal(column("i"), StringLiteral("1")),
      Equal(column("s"), IntLiteral(1)),
      Equal(column("place"), IntLiteral(1)),
      Equal(column("ts"), TimestampTzLiteral(1L)),
      Equal(column("id"), StringLiteral("F79C3E09-677C-4BBD-A479-3F349CB785E7")),
      StartsWith(column("i"), "1"),
      In(column("i"), Set(IntLiteral(1), BooleanLiteral(true))),
      Equal(Term.Transformed(Hour, column("date")), IntLiteral(1))
    ).foreach { e => assertThrows[IcebergError.InvalidArgument](bind(e)) }
    val later = Term.Transformed(UnknownTransform("later"), column("i"))
    assertThrows[IcebergError.Unsupported](bind(Equal(later, IntLiteral(1))))
  }

  test("a comparison with a number outside the column's range becomes a constant or a null test") {
    val big = LongLiteral(1L << 40)
    assert(bind(LessThan(column("i"), big)) == "i IS NOT NULL")
    assert(bind(LessThan(column("r"), big)) == "true")
    assert(bind(GreaterThanOrEqual(column("i"), big)) == "false")
    assert(bind(Equal(column("i"), big)) == "false")
    assert(bind(NotEqual(column("i"), big)) == "i IS NOT NULL")
    assert(bind(Not(Equal(column("i"), big))) == "i IS NOT NULL")
    assert(bind(In(column("i"), Set(big, IntLiteral(3)))) == "i = 3")
    assert(bind(NotIn(column("i"), Set(big, IntLiteral(3)))) == "i <> 3")
    assert(bind(GreaterThan(column("i"), LongLiteral(-(1L << 40)))) == "i IS NOT NULL")
    assert(bind(GreaterThan(column("d"), DecimalLiteral(new BigDecimal("100")))) == "false")
    assert(bind(LessThan(column("d"), DoubleLiteral(Double.PositiveInfinity))) == "d IS NOT NULL")
    assert(bind(LessThan(column("i"), DoubleLiteral(Double.NaN))) == "i IS NOT NULL")
  }

  test("a literal between two representable values of the column is rounded without changing the result") {
    assert(bind(LessThan(column("i"), DoubleLiteral(1.5))) == "i <= 1")
    assert(bind(GreaterThanOrEqual(column("i"), DoubleLiteral(-1.5))) == "i > -2")
    assert(bind(Equal(column("i"), DoubleLiteral(1.5))) == "false")
    assert(bind(LessThan(column("d"), DecimalLiteral(new BigDecimal("1.555")))) == "d <= 1.55")
    assert(bind(Equal(column("d"), DecimalLiteral(new BigDecimal("1.5")))) == "d = 1.50")
    assert(bind(GreaterThan(column("date"), TimestampLiteral(1L))) == "date > DATE '1970-01-01'")
    assert(bind(GreaterThan(column("ts"), DateLiteral(0))) == "ts > TIMESTAMP '1970-01-01T00:00:00'")
    assert(bind(LessThan(column("ts"), DateLiteral(Int.MaxValue))) == "ts IS NOT NULL")
  }

  test("binary literals whose length differs from a fixed column are adjusted without changing the result") {
    def bytes(all: Int*) = BinaryLiteral(java.nio.ByteBuffer.wrap(all.map(_.toByte).toArray))
    assert(bind(LessThan(column("fixed"), bytes(1))) == "fixed < X'0100'")
    assert(bind(GreaterThan(column("fixed"), bytes(1))) == "fixed >= X'0100'")
    assert(bind(LessThan(column("fixed"), bytes(1, 2, 3))) == "fixed <= X'0102'")
    assert(bind(Equal(column("fixed"), bytes(1, 2, 3))) == "false")
    assert(bind(Equal(column("fixed"), bytes(1, 2))) == "fixed = X'0102'")
  }

  test("comparisons with NaN become NaN tests, with NaN as the greatest number") {
    val nan = DoubleLiteral(Double.NaN)
    assert(bind(Equal(column("f"), nan)) == "f IS NAN")
    assert(bind(NotEqual(column("f"), nan)) == "(f IS NOT NAN AND f IS NOT NULL)")
    assert(bind(LessThan(column("f"), nan)) == "(f IS NOT NULL AND f IS NOT NAN)")
    assert(bind(GreaterThan(column("f"), nan)) == "false")
    assert(bind(In(column("f"), Set(nan, FloatLiteral(1f)))) == "(f IS NAN OR f = 1.0)")
    assert(bind(IsNan(column("i"))) == "false")
    assert(bind(NotNan(column("i"))) == "true")
  }

  test("a required column is never null, unless an enclosing struct may be null") {
    assert(bind(IsNull(column("r"))) == "false")
    assert(bind(NotNull(column("r"))) == "true")
    assert(bind(IsNull(column("place.lat"))) == "place.lat IS NULL")
  }

  test("a column of type unknown and a void transform are always null") {
    Seq(column("u"), Term.Transformed(Void, column("i"))).foreach { term =>
      assert(bind(IsNull(term)) == "true")
      assert(bind(NotNull(term)) == "false")
      assert(bind(Equal(term, IntLiteral(1))) == "false")
      assert(bind(NotEqual(term, IntLiteral(1))) == "false")
    }
  }

  test("a null test of a bucket becomes a null test of its source column, and identity transforms are removed") {
    assert(bind(IsNull(Term.Transformed(Bucket(4), column("i")))) == "i IS NULL")
    assert(bind(Equal(Term.Transformed(Identity, column("i")), IntLiteral(1))) == "i = 1")
    assert(bind(Equal(Term.Transformed(Year, column("ts")), LongLiteral(50L))) == "year(ts) = 50")
    assert(bind(LessThan(Term.Transformed(Day, column("ts")), StringLiteral("2024-05-01"))) ==
      "day(ts) < DATE '2024-05-01'")
  }

  test("tests with an empty prefix or an empty list become constants or null tests") {
    assert(bind(StartsWith(column("s"), "")) == "s IS NOT NULL")
    assert(bind(NotStartsWith(column("s"), "")) == "false")
    assert(bind(In(column("i"), Set.empty)) == "false")
    assert(bind(NotIn(column("i"), Set.empty)) == "i IS NOT NULL")
  }

  test("a string is converted to a UUID only if it has the canonical form") {
    val text = "f79c3e09-677c-4bbd-a479-3f349cb785e7"
    assert(bind(Equal(column("id"), StringLiteral(text))) == s"id = '$text'")
  }

  private val numbers: Seq[NestedField] = columns.filter(_.fieldType match {
    case IntType | LongType | FloatType | DoubleType | _: DecimalType => true
    case _ => false
  })

  private val literals: Gen[Literal] = Gen.oneOf(
    Gen.oneOf(numbers).flatMap(c => value(c.fieldType.asInstanceOf[PrimitiveType])),
    Gen.oneOf(1.25, 2.5, 0.1, 1e30, -1e30, 1e300, Double.MinPositiveValue, 2147483648.5).map(DoubleLiteral),
    Gen.oneOf("1.005", "1e40", "-1e40", "1e400", "9223372036854775808", "2147483647.5").map { text =>
      DecimalLiteral(new BigDecimal(text))
    }
  )

  private def compareExactly(a: Literal, b: Literal): Int = (number(a), number(b)) match {
    case (Right(x), Right(y)) => x.compareTo(y)
    case (x, y) => java.lang.Double.compare(x.fold(identity, _ => 0.0), y.fold(identity, _ => 0.0))
  }

  /** Returns the exact number; `Left` for infinities and NaN. */
  private def number(v: Literal): Either[Double, BigDecimal] = v match {
    case IntLiteral(n) => Right(BigDecimal.valueOf(n.toLong))
    case LongLiteral(n) => Right(BigDecimal.valueOf(n))
    case FloatLiteral(n) => number(DoubleLiteral(n.toDouble))
    case DoubleLiteral(n) => if (n.isNaN || n.isInfinite) Left(n) else Right(new BigDecimal(n))
    case DecimalLiteral(n) => Right(n)
    case other => fail(other.toString)
  }

  test("comparisons between different numeric types compare the exact values") {
    val cases = for (c <- Gen.oneOf(numbers); v <- value(c.fieldType.asInstanceOf[PrimitiveType]); l <- literals)
      yield (c, v, l)
    forAll(cases) { case (c, v, l) =>
      val order = compareExactly(v, l)
      val named = Term.Named(c.name)
      val expected = Seq(
        LessThan(named, l) -> (order < 0),
        LessThanOrEqual(named, l) -> (order <= 0),
        GreaterThan(named, l) -> (order > 0),
        GreaterThanOrEqual(named, l) -> (order >= 0),
        Equal(named, l) -> (order == 0),
        NotEqual(named, l) -> (order != 0),
        In(named, Set(l)) -> (order == 0),
        NotIn(named, Set(l)) -> (order != 0)
      )
      expected.foreach { case (p, holds) =>
        val bound = Bind(p, Schema(0, columns), caseSensitive = true)
        assert(matches(bound, Map(c.id -> Some(v))) == holds, s"$p as $bound for $v")
        assert(!matches(bound, Map(c.id -> None)))
      }
    }
  }

  test("binding is idempotent and keeps the meaning of the expression") {
    val cases = for (e <- condition(columns, Seq(Bucket(3), Truncate(7), Day)); r <- row(columns)) yield (e, r)
    forAll(cases) { case (e, r) =>
      val bound = Bind(e, Schema(0, columns), caseSensitive = true)
      assert(matches(bound, r) == matches(e, r))
      assert(Bind(bound, Schema(0, columns), caseSensitive = true) == bound)
    }
  }
}
