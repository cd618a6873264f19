package iceberglite.spec.file

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.MetricsRules
import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.{Literal, NestedField}
import iceberglite.spec.types.Literal.IntLiteral
import iceberglite.spec.types.Type._

/** Tests filters on parts of variants with the bounds of files. */
class VariantBoundsSuite extends AnyFunSuite {
  private val fields = Vector(1, 2).map(id => NestedField.optional(id, s"v$id", VariantType))

  private def part(id: Int, name: String): Term =
    Term.Part(Term.Bound(fields(id - 1), s"v$id"), Vector(name), IntType)

  /** Reads bounds that are text, such as `a=1,b=2`, and counts how often. */
  final private class TextBounds extends VariantBounds {
    var decoded = 0

    override def decode(bounds: ByteBuffer): Option[VariantBounds.Parts] = {
      decoded += 1
      val text = UTF_8.decode(bounds.duplicate()).toString
      val pairs = text.split(',').map(_.split('=')).collect { case Array(name, value) => (name, value) }
      val values = pairs.map { case (name, value) => s"$$['$name']" -> value }.toMap
      if (text.isEmpty) None
      else
        Some(new VariantBounds.Parts {
          override def of(name: Array[Byte]): Option[Literal] =
            values.get(new String(name, UTF_8)).map(v => IntLiteral(v.toInt))
        })
    }
  }

  private def file(lower: Map[Int, String], upper: Map[Int, String]): ContentFile = {
    def bytes(bounds: Map[Int, String]) = Some(bounds.map { case (id, text) => id -> UTF_8.encode(text) })
    val counts = Some(Map(1 -> 4L, 2 -> 4L))
    val metrics = MetricMaps(
      valueCounts = counts,
      nullValueCounts = Some(Map(1 -> 0L, 2 -> 4L)),
      lowerBounds = bytes(lower),
      upperBounds = bytes(upper)
    )
    ContentFile(Content.Data, "f", FileFormat.Parquet, 0, PartitionTuple.Empty, 4L, 1L, metrics)
  }

  private def mightMatch(filter: Expression, f: ContentFile): Boolean =
    new InclusiveMetrics(filter, Some(new TextBounds)).mightMatch(f)

  test("a filter is tested with the bounds of the part", MetricsRules.variantFilters) {
    val f = file(Map(1 -> "a=1,b=10"), Map(1 -> "a=5,b=20"))
    assert(mightMatch(Equal(part(1, "a"), IntLiteral(5)), f) && !mightMatch(Equal(part(1, "a"), IntLiteral(6)), f))
    assert(!mightMatch(Equal(part(1, "b"), IntLiteral(5)), f) && mightMatch(Equal(part(1, "c"), IntLiteral(5)), f))
    val oneBound = file(Map(1 -> "a=1"), Map.empty)
    assert(!mightMatch(LessThan(part(1, "a"), IntLiteral(1)), oneBound))
    assert(mightMatch(GreaterThan(part(1, "a"), IntLiteral(9)), oneBound))
    assert(mightMatch(Equal(part(1, "a"), IntLiteral(5)), file(Map(1 -> ""), Map(1 -> ""))))
  }

  test("the counts of a column are used with and without bounds of its parts", MetricsRules.variantFilters) {
    val f = file(Map(1 -> "a=1"), Map(1 -> "a=5"))
    val column = Term.Bound(fields.head, "v1")
    assert(!mightMatch(IsNull(column), f) && mightMatch(NotNull(column), f))
    assert(!mightMatch(And(IsNull(column), Equal(part(1, "a"), IntLiteral(2))), f))
    assert(!mightMatch(Equal(part(2, "a"), IntLiteral(2)), f))
  }

  test("the bounds of each column are decoded once per file, and only if a filter tests a part") {
    val reader = new TextBounds
    val f = file(Map(1 -> "a=1,b=1", 2 -> "a=1"), Map(1 -> "a=5,b=5", 2 -> "a=5"))
    val ofFirst = Seq("a", "b", "c").map(name => GreaterThan(part(1, name), IntLiteral(0)))
    val test = new InclusiveMetrics(ofFirst.reduce[Expression](And(_, _)), Some(reader))
    assert(test.mightMatch(f) && reader.decoded == 2)
    assert(test.mightMatch(f) && reader.decoded == 4)
    new InclusiveMetrics(NotNull(Term.Bound(fields.head, "v1")), Some(reader)).mightMatch(f)
    assert(reader.decoded == 4)
  }
}
