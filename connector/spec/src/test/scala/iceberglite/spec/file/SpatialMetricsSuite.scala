package iceberglite.spec.file

import java.nio.ByteBuffer

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.MetricsRules
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.spec.expr.{Bind, Evaluate, Expression, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.geo.WkbSuite.{count, geometry, point, ring}
import iceberglite.spec.geo.{BoundingBox, Extent, PointBound, Wkb}
import iceberglite.spec.json.ExpressionJson
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Literal.BinaryLiteral
import iceberglite.spec.types.{Literal, NestedField}
import iceberglite.spec.types.Type._

/** Tests filters on boxes of geometries with the metrics of files. */
class SpatialMetricsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 5000)

  private val schema = Schema(
    0,
    Vector(
      NestedField.optional(1, "g", GeometryType(DefaultCrs)),
      NestedField.optional(2, "h", GeographyType(DefaultCrs, DefaultEdgeAlgorithm)),
      NestedField.optional(3, "b", BinaryType)
    )
  )

  private def bound(e: Expression): Expression = Bind(e, schema, caseSensitive = true)

  private val ordinate: Gen[Double] = Gen.frequency(
    20 -> Gen.choose(-5, 5).map(_.toDouble),
    1 -> Gen.oneOf(Double.NaN, Double.PositiveInfinity, Double.NegativeInfinity, -0.0)
  )
  private val coordinates: Gen[ByteBuffer] = Gen.zip(ordinate, ordinate).map { case (x, y) => point(x, y) }

  private val shape: Gen[ByteBuffer] = Gen.oneOf(
    coordinates.map(geometry(1, _)),
    Gen.zip(coordinates, coordinates).map { case (a, b) => geometry(2, count(2), a, b) },
    Gen.const(geometry(7, count(0))),
    Gen.zip(coordinates, coordinates).map { case (a, b) =>
      geometry(7, count(2), geometry(1, a), geometry(1, b))
    }
  )

  private val box: Gen[BoundingBox] = for {
    x <- Gen.choose(-6, 6)
    y <- Gen.choose(-6, 6)
    width <- Gen.choose(0, 4)
    height <- Gen.choose(0, 4)
  } yield BoundingBox(x, y, x + width, y + height)

  private case class Stored(rows: Vector[Option[ByteBuffer]], counts: Boolean, bounds: Boolean) {
    def file(id: Int): ContentFile = {
      val extent = new Extent
      rows.flatten.foreach(Wkb.addTo(extent, _))
      val ofFile = extent.geometryBounds.filter(_ => bounds)
      val metrics = MetricMaps(
        valueCounts = if (counts) Some(Map(id -> rows.size.toLong)) else None,
        nullValueCounts = if (counts) Some(Map(id -> rows.count(_.isEmpty).toLong)) else None,
        lowerBounds = ofFile.map(b => Map(id -> b._1.encode)),
        upperBounds = ofFile.map(b => Map(id -> b._2.encode))
      )
      ContentFile(Content.Data, "f", FileFormat.Parquet, 0, PartitionTuple.Empty, rows.size.toLong, 1L, metrics)
    }
  }

  private val stored: Gen[Stored] = for {
    size <- Gen.choose(1, 5)
    rows <- Gen.listOfN(size, Gen.option(shape))
    counts <- Gen.oneOf(true, false)
    bounds <- Gen.frequency(4 -> true, 1 -> false)
  } yield Stored(rows.toVector, counts, bounds)

  private def matches(e: Expression, row: Option[ByteBuffer]): Boolean =
    Evaluate.rows[Option[Literal]](e, _ => identity)(row.map(BinaryLiteral))

  test(
    "no file with a matching row is skipped, and the strict test holds only for files of matching rows",
    MetricsRules.spatialFilters
  ) {
    var skipped = 0
    forAll(stored, box, Gen.oneOf("g", "h"), Gen.oneOf(true, false), Gen.oneOf(true, false)) {
      (file, box, column, disjoint, negated) =>
        val term = Term.Named(column)
        val test = if (disjoint) BoxDisjoint(term, box) else BoxIntersects(term, box)
        val e = bound(if (negated) Not(test) else test)
        val contents = file.file(if (column == "g") 1 else 2)
        val might = new InclusiveMetrics(e).mightMatch(contents)
        if (!might) skipped += 1
        assert(might || !file.rows.exists(matches(e, _)))
        assert(!new StrictMetrics(e).allMatch(contents) || file.rows.forall(matches(e, _)))
    }
    assert(skipped > 500, "filters skip files")
  }

  private def fileWith(low: ByteBuffer, high: ByteBuffer): ContentFile = {
    val metrics =
      MetricMaps(lowerBounds = Some(Map(1 -> low, 2 -> low)), upperBounds = Some(Map(1 -> high, 2 -> high)))
    ContentFile(Content.Data, "f", FileFormat.Parquet, 0, PartitionTuple.Empty, 1L, 1L, metrics)
  }

  test("invalid bounds skip no file, and bounds across the antimeridian limit only y", MetricsRules.spatialFilters) {
    def mightMatch(column: String, low: ByteBuffer, high: ByteBuffer, box: BoundingBox): Boolean =
      new InclusiveMetrics(bound(BoxIntersects(Term.Named(column), box))).mightMatch(fileWith(low, high))
    def xy(x: Double, y: Double) = PointBound(x, y, None, None).encode
    val far = BoundingBox(100, 80, 101, 81)
    assert(!mightMatch("g", xy(0, 0), xy(1, 1), far) && mightMatch("g", xy(0, 0), xy(100, 80), far))
    val short = ByteBuffer.allocate(8)
    Seq("g", "h").foreach { column =>
      assert(mightMatch(column, xy(Double.NaN, 0), xy(1, 1), far) && mightMatch(column, xy(0, 1), xy(1, 0), far))
      assert(mightMatch(column, short, xy(1, 1), far) && mightMatch(column, xy(0, 0), short, far))
      assert(mightMatch(column, ByteBuffer.wrap("x".getBytes), ByteBuffer.wrap("y".getBytes), far))
    }
    // The first sixteen bytes of WKB and of EWKB, which are two doubles
    def first16(wkb: ByteBuffer) = {
      wkb.limit(16)
      wkb
    }
    def truncated(x: Double) = first16(geometry(1, point(x, x)))
    assert(mightMatch("g", truncated(99), truncated(100), far) && !mightMatch("g", xy(0, 0), truncated(1), far))
    def extended(x: Double) = first16(geometry(0x20000001, count(4326), point(x, x)))
    assert(mightMatch("g", extended(99), extended(100), far))
    assert(mightMatch("g", xy(170, 0), xy(-170, 1), far))
    assert(!mightMatch("h", xy(170, 0), xy(-170, 1), far))
    assert(mightMatch("h", xy(170, 0), xy(-170, 1), BoundingBox(100, 0, 101, 1)))
  }

  test("a test of a box is only valid for geometries, is compared without nulls, and has no JSON form") {
    val box = BoundingBox(0, 0, 1, 1)
    assert(bound(Not(BoxIntersects(Term.Named("g"), box))).toString == "g DISJOINT FROM BOX(0.0 0.0, 1.0 1.0)")
    val invalid = intercept[InvalidArgument](bound(BoxIntersects(Term.Named("b"), box)))
    assert(invalid.reason == "b has type binary, but only geometries have a box")
    val test = bound(BoxIntersects(Term.Named("g"), box))
    assert(!matches(test, None) && !matches(Not(test), None))
    val triangle = geometry(3, count(1), ring(point(1, 1), point(2, 1), point(2, 2), point(1, 1)))
    assert(matches(test, Some(triangle)) && !matches(Not(test), Some(triangle)))
    // A value that is not WKB is selected, so that the engine reports it.
    val notWkb = Some(ByteBuffer.wrap(Array[Byte](9)))
    assert(matches(test, notWkb) && matches(Not(test), notWkb))
    assert(intercept[Unsupported](ExpressionJson.toJson(test)).what == s"the filter $test in JSON")
  }
}
