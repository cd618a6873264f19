package iceberglite.spec.expr

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError
import iceberglite.spec.expr.Expression._
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, PartitionTuple, Truncate}
import iceberglite.spec.types.{DateTime, Literal, NestedField}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

class EvaluateSuite extends AnyFunSuite {
  private val number = Term.Bound(NestedField.optional(1, "n", IntType), "n")
  private val float = Term.Bound(NestedField.optional(2, "f", DoubleType), "f")
  private val text = Term.Bound(NestedField.optional(3, "s", StringType), "s")

  test("null matches no comparison and no negated comparison") {
    Seq(
      LessThan(number, IntLiteral(1)),
      LessThanOrEqual(number, IntLiteral(1)),
      GreaterThan(number, IntLiteral(1)),
      GreaterThanOrEqual(number, IntLiteral(1)),
      Equal(number, IntLiteral(1)),
      NotEqual(number, IntLiteral(1)),
      In(number, Set(IntLiteral(1))),
      NotIn(number, Set(IntLiteral(1))),
      StartsWith(text, "a"),
      NotStartsWith(text, "a"),
      NotNull(number),
      IsNan(float)
    ).foreach(p => assert(!EvaluatedPredicate.on(None, p), p))
    assert(EvaluatedPredicate.on(None, IsNull(number)))
    assert(EvaluatedPredicate.on(None, NotNan(float)))
  }

  test("NaN equals NaN and is greater than every number, and the two zeros are equal") {
    val nan = Some(DoubleLiteral(Double.NaN))
    assert(EvaluatedPredicate.on(nan, Equal(float, DoubleLiteral(Double.NaN))))
    assert(EvaluatedPredicate.on(nan, GreaterThan(float, DoubleLiteral(Double.PositiveInfinity))))
    assert(EvaluatedPredicate.on(nan, NotIn(float, Set(DoubleLiteral(1.0)))))
    assert(EvaluatedPredicate.on(Some(DoubleLiteral(-0.0)), Equal(float, DoubleLiteral(0.0))))
    assert(EvaluatedPredicate.on(Some(DoubleLiteral(-0.0)), In(float, Set(DoubleLiteral(0.0), DoubleLiteral(4.0)))))
    assert(!EvaluatedPredicate.on(Some(FloatLiteral(-0.0f)), LessThan(float, FloatLiteral(0.0f))))
  }

  test("strings are compared by their UTF-8 bytes") {
    assert(EvaluatedPredicate.on(Some(StringLiteral("\uD83D\uDE00")), GreaterThan(text, StringLiteral("\uFFFD"))))
    assert(EvaluatedPredicate.on(Some(StringLiteral("ab")), StartsWith(text, "a")))
    assert(EvaluatedPredicate.on(Some(StringLiteral("ab")), NotStartsWith(text, "b")))
  }

  test("a transform in the term is applied to the value") {
    val tens = Term.Transformed(Truncate(10), number)
    assert(EvaluatedPredicate.on(Some(IntLiteral(17)), Equal(tens, IntLiteral(10))))
    assert(!EvaluatedPredicate.on(Some(IntLiteral(27)), Equal(tens, IntLiteral(10))))
    assert(!EvaluatedPredicate.on(None, Equal(tens, IntLiteral(10))))
  }

  test("partition values are found by field id, regardless of the order of the fields") {
    val spec = PartitionSpec(0, Vector(PartitionField(1, 1005, "a", Identity), PartitionField(2, 1001, "b", Identity)))
    val a = Term.Bound(NestedField.optional(1005, "a", IntType), "a")
    val b = Term.Bound(NestedField.optional(1001, "b", IntType), "b")
    val test = Evaluate.tuple(Or(And(Equal(a, IntLiteral(1)), Not(Equal(b, IntLiteral(1)))), IsNull(a)), spec)
    assert(test(PartitionTuple(Vector(Some(IntLiteral(1)), Some(IntLiteral(2))))))
    assert(!test(PartitionTuple(Vector(Some(IntLiteral(1)), Some(IntLiteral(1))))))
    assert(test(PartitionTuple(Vector(None, None))))
  }

  test("an unbound term, or a field that the partition spec does not have, is rejected") {
    val spec = PartitionSpec(0, Vector(PartitionField(1, 1005, "a", Identity)))
    assertThrows[IcebergError.InvalidArgument](Evaluate.tuple(Equal(number, IntLiteral(1)), spec))
    assertThrows[IcebergError.InvalidArgument](Evaluate.tuple(IsNull(Term.Named("a")), spec))
  }

  test("literals are printed in SQL syntax") {
    val day = DateTime.parseTimestamp("2017-11-16T22:31:08").get
    val expected = Seq[(Literal, String)](
      BooleanLiteral(true) -> "true",
      LongLiteral(-3L) -> "-3",
      DecimalLiteral(new BigDecimal("1E+3")) -> "1000",
      DateLiteral(17486) -> "DATE '2017-11-16'",
      TimeLiteral(1000000L) -> "TIME '00:00:01'",
      TimestampLiteral(day) -> "TIMESTAMP '2017-11-16T22:31:08'",
      TimestampTzLiteral(day) -> "TIMESTAMP '2017-11-16T22:31:08+00:00'",
      TimestampNsLiteral(day * 1000 + 1) -> "TIMESTAMP '2017-11-16T22:31:08.000000001'",
      TimestampTzNsLiteral(day * 1000) -> "TIMESTAMP '2017-11-16T22:31:08+00:00'",
      StringLiteral("it's") -> "'it''s'",
      UuidLiteral(new UUID(0L, 1L)) -> "'00000000-0000-0000-0000-000000000001'",
      BinaryLiteral(ByteBuffer.wrap(Array[Byte](0, -1))) -> "X'00FF'"
    )
    expected.foreach { case (value, shown) => assert(LiteralText.of(value) == shown) }
  }
}
