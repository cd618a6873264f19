package iceberglite.metrics

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.MetricsRules
import iceberglite.spec.property.MetricsMode.{Counts, Full, NoMetrics, Truncate}
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal._
import iceberglite.tree.manifestlist.ManifestSamples.bytes

class ColumnBoundsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val ice = "\uD83E\uDDCA"
  private val points = Gen.listOf(Gen.oneOf(
    Gen.choose(0x61, 0x63),
    Gen.oneOf(0xd7ff, 0xe000, 0xffff, 0x10000, Character.MAX_CODE_POINT)
  )).map(ps => new String(ps.toArray, 0, ps.size))

  private def upper(text: String, length: Int): Option[Literal] =
    ColumnBounds.upper(StringLiteral(text), Truncate(length))

  test(
    "text bounds are truncated to a number of code points, and the upper bound is raised",
    MetricsRules.truncatedUpward
  ) {
    assert(ColumnBounds.lower(StringLiteral(s"a${ice}b"), Truncate(2)).contains(StringLiteral(s"a$ice")))
    assert(upper(s"a${ice}b", 2).contains(StringLiteral("a\uD83E\uDDCB")))
    assert(upper("abc", 3).contains(StringLiteral("abc")))
    assert(upper("abc", 2).contains(StringLiteral("ac")))
    assert(upper("a\uD7FFz", 2).contains(StringLiteral("a\uE000")))
    val highest = new String(Character.toChars(Character.MAX_CODE_POINT))
    assert(upper(s"a${highest}z", 2).contains(StringLiteral("b")))
    assert(upper(highest * 3, 2).isEmpty)
  }

  test("a long text of surrogate pairs is truncated between two pairs", MetricsRules.truncatedUpward) {
    val long = ice * 5000
    assert(ColumnBounds.lower(StringLiteral(long), Truncate(16)).contains(StringLiteral(ice * 16)))
    assert(upper(long, 16).contains(StringLiteral(ice * 15 + "\uD83E\uDDCB")))
    val highest = new String(Character.toChars(Character.MAX_CODE_POINT))
    assert(upper("\uFFFF" + highest * 20, 16).contains(StringLiteral(new String(Character.toChars(0x10000)))))
    assert(upper(highest * 16, 16).contains(StringLiteral(highest * 16)))
  }

  test("bounds of type fixed are never truncated", MetricsRules.bounds) {
    val value = FixedLiteral(bytes(255, 255, 1))
    assert(
      ColumnBounds.lower(value, Truncate(1)).contains(value) && ColumnBounds.upper(value, Truncate(1)).contains(value)
    )
  }

  test(
    "the metrics mode determines the bounds, and zero bounds of unknown sign become -0.0 and 0.0",
    MetricsRules.modes,
    MetricsRules.zeros
  ) {
    Seq(NoMetrics, Counts).foreach { mode =>
      assert(ColumnBounds.lower(IntLiteral(1), mode).isEmpty && ColumnBounds.upper(IntLiteral(1), mode).isEmpty)
    }
    assert(ColumnBounds.ofStatistics(DoubleLiteral(0.0), DoubleLiteral(-0.0)) == ((
      DoubleLiteral(-0.0),
      DoubleLiteral(0.0)
    )))
    assert(ColumnBounds.ofStatistics(FloatLiteral(0.0f), FloatLiteral(-0.0f)) == ((
      FloatLiteral(-0.0f),
      FloatLiteral(0.0f)
    )))
    assert(ColumnBounds.upper(StringLiteral("x" * 100), Full).contains(StringLiteral("x" * 100)))
  }

  test(
    "binary bounds are truncated, and the upper bound is raised at its last byte below 255",
    MetricsRules.truncatedUpward
  ) {
    assert(ColumnBounds.lower(BinaryLiteral(bytes(1, 2, 3)), Truncate(2)).contains(BinaryLiteral(bytes(1, 2))))
    assert(ColumnBounds.upper(BinaryLiteral(bytes(1, 2, 3)), Truncate(2)).contains(BinaryLiteral(bytes(1, 3))))
    assert(ColumnBounds.upper(BinaryLiteral(bytes(1, 255, 3)), Truncate(2)).contains(BinaryLiteral(bytes(2))))
    assert(ColumnBounds.upper(BinaryLiteral(bytes(127, 0)), Truncate(1)).contains(BinaryLiteral(bytes(128))))
    assert(ColumnBounds.upper(BinaryLiteral(bytes(255, 255, 255)), Truncate(2)).isEmpty)
  }

  test("truncated bounds enclose the value", MetricsRules.bounds, MetricsRules.truncatedUpward) {
    forAll(points, Gen.choose(1, 5)) { (text, length) =>
      val value = StringLiteral(text)
      val lower = ColumnBounds.lower(value, Truncate(length))
      assert(lower.exists(Literal.ordering.lteq(_, value)))
      assert(ColumnBounds.upper(value, Truncate(length)).forall(Literal.ordering.gteq(_, value)))
    }
    forAll(Gen.listOf(Gen.oneOf(0, 1, 127, 128, 254, 255)), Gen.choose(1, 4)) { (values, length) =>
      val value = BinaryLiteral(bytes(values: _*))
      assert(ColumnBounds.lower(value, Truncate(length)).exists(Literal.ordering.lteq(_, value)))
      assert(ColumnBounds.upper(value, Truncate(length)).forall(Literal.ordering.gteq(_, value)))
    }
  }
}
