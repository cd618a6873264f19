package iceberglite.spark.function

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{Literal => SparkLiteral}
import org.apache.spark.sql.types.{Decimal, StringType => SparkString}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.MetricsRules
import iceberglite.data.{VariantJson, VariantPath}
import iceberglite.spark.convert.{SparkTypes, SparkValues}
import iceberglite.spec.expr.VariantPart
import iceberglite.spec.types.{Literal, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** Compares the cast of bounds of variants, which must preserve the order, with the cast of `variant_get`. */
class VariantCastSuite extends AnyFunSuite {
  private val types: Seq[PrimitiveType] = Seq(
    IntType,
    LongType,
    FloatType,
    DoubleType,
    DecimalType(9, 2),
    DecimalType(38, 10),
    DecimalType(5, 0),
    StringType,
    DateType,
    TimestampType,
    TimestampTzType
  )

  private def values(random: Random): Seq[Seq[Literal]] = {
    def many[A](value: => A)(literal: A => Literal) = Seq.fill(40)(literal(value))
    def decimal(scale: Int) = {
      val digits = if (random.nextBoolean()) BigInt(random.nextInt(2000) - 1000) else BigInt(100, random)
      DecimalLiteral(new java.math.BigDecimal(digits.bigInteger, scale))
    }
    Seq(
      many(random.nextInt())(IntLiteral(_)) ++ many(random.nextInt(9) - 4)(IntLiteral(_)),
      many(random.nextLong())(LongLiteral(_)) ++ many(random.nextInt().toLong)(LongLiteral(_)),
      Seq.fill(40)(decimal(0)),
      Seq.fill(40)(decimal(2)),
      Seq.fill(40)(decimal(12)),
      many(random.nextGaussian())(DoubleLiteral(_)) ++ Seq(1e300, -1e-300, 0.0, 1e10).map(DoubleLiteral(_)),
      many(random.nextFloat())(FloatLiteral(_)) ++ Seq(1e30f, 0.1f, -0.1f, 3e-40f).map(FloatLiteral(_)),
      many(random.nextInt(40).toString)(StringLiteral(_)) ++ many(random.nextString(3))(StringLiteral(_)),
      many(random.nextInt(80000) - 40000)(DateLiteral(_)),
      many(random.nextInt() * 1000000L)(TimestampLiteral(_)),
      many(random.nextInt() * 1000000L)(TimestampTzLiteral(_))
    )
  }

  private def ofFunction(value: Literal, t: PrimitiveType, zone: String): Option[Any] = {
    val json = SparkLiteral(UTF8String.fromString(VariantJson.of(value)), SparkString)
    Option(VariantGet(json, VariantPath(Vector.empty), Some(SparkTypes.toSpark(t)), failOnError = false, zone).eval())
  }

  private def comparable(value: Any): Any = value match {
    case d: Decimal => d.toJavaBigDecimal.stripTrailingZeros
    case other => other
  }

  test("the cast of a bound has the result of variant_get, and preserves the order", MetricsRules.variantFilters) {
    var compared = 0
    for (all <- values(new Random(5L)); t <- types; zone <- Seq("UTC", "America/Los_Angeles")) {
      val sorted = all.sorted(Literal.ordering)
      val casts = sorted.map(VariantPart.cast(_, t))
      sorted.zip(casts).foreach {
        case (value, Some(cast)) =>
          compared += 1
          // Zeros of both signs are equal in filters.
          val expected = ofFunction(value, t, zone).map(comparable).map(v => if (v == 0.0) 0.0 else v)
          val actual = comparable(SparkValues.toSpark(cast, t))
          assert(expected.contains(if (actual == 0.0) 0.0 else actual), s"$value as $t")
        case (_, None) => ()
      }
      val found = casts.flatten
      assert(found.zip(found.drop(1)).forall { case (a, b) => Literal.ordering.lteq(a, b) }, s"$all as $t")
    }
    assert(compared > 2000)
  }

  test("values that a cast rejects, or whose order it does not preserve, have no bounds", MetricsRules.variantFilters) {
    for (t <- types if t != StringType) assert(VariantPart.cast(StringLiteral("1"), t).isEmpty)
    for (value <- Seq(IntLiteral(1), DateLiteral(1), DoubleLiteral(1.5)))
      assert(VariantPart.cast(value, StringType).isEmpty)
    assert(VariantPart.cast(LongLiteral(1L << 40), IntType).isEmpty)
    assert(VariantPart.cast(DateLiteral(1), TimestampTzType).isEmpty)
    assert(VariantPart.cast(TimestampLiteral(1), TimestampTzType).isEmpty)
  }
}
