package iceberglite.spark.function

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.conformance.SparkRules
import iceberglite.spark.SharedSession
import iceberglite.spark.write.WriteFixture

/** Tests the functions on geometries. */
class SpatialFunctionsSuite extends AnyFunSuite with WriteFixture {
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  private def value(expression: String): Any =
    rows(s"SELECT ${expression.replace("st_", "lite.system.st_")}").head.get(0)

  private def failure(expression: String): String = {
    val error = intercept[Exception](value(expression))
    assert(Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null).exists(_.isInstanceOf[SparkThrowable]))
    messages(error)
  }

  test(
    "text of all types and dimensions becomes ISO WKB, and WKB becomes the same text",
    Slow,
    SparkRules.spatialFunctions
  ) {
    val texts = Seq(
      "POINT (1 2)",
      "POINT EMPTY",
      "POINT Z(1 2 3)",
      "POINT M(1 2 4)",
      "POINT ZM(1 2 3 4)",
      "LINESTRING (0 0, -1.5 0.1)",
      "LINESTRING EMPTY",
      "POLYGON ((0 0, 4 0, 4 4, 0 0), (1 1, 2 1, 2 2, 1 1))",
      "POLYGON EMPTY",
      "MULTIPOINT ((1 1), (2 2))",
      "MULTILINESTRING Z((0 0 1, 1 1 2), (2 2 3, 3 3 4))",
      "MULTIPOLYGON (((0 0, 4 0, 4 4, 0 0)))",
      "GEOMETRYCOLLECTION (POINT (1 2), GEOMETRYCOLLECTION (LINESTRING (0 0, 1 1)))",
      "GEOMETRYCOLLECTION EMPTY",
      "POINT (123456789012345680 -0.1)"
    )
    texts.foreach(text => assert(value(s"st_astext(st_aswkb(st_geomfromwkb(st_geomfromtext('$text'))))") == text))
    Seq("1.7976931348623157E308 4.9E-324", "1.0000000000000002E-5 0.30000000000000004", "-1E-17 -0.0").foreach { xy =>
      val point = s"st_geomfromtext('POINT ($xy)')"
      val Array(x, y) = xy.split(' ')
      assert(value(s"hex(st_geomfromtext(st_astext($point)))") == value(s"hex(st_point(double('$x'), double('$y')))"))
    }
    assert(value("hex(st_geomfromtext('POINT Z (1 2 3)'))") ==
      "01E9030000000000000000F03F00000000000000400000000000000840")
    assert(value("hex(st_point(1, 2.5))") == value("hex(st_geomfromtext('POINT(1 2.5)'))"))
    assert(value("st_astext(st_box(-1, 0, 2.5, 3))") == "POLYGON ((-1 0, 2.5 0, 2.5 3, -1 3, -1 0))")
    assert(value("st_astext(st_geomfromtext('POINT (5 NaN)'))") == "POINT EMPTY")
    assert(value("st_astext(st_geomfromtext('POINT Z (1 2 NaN)'))") == "POINT (1 2)")
    assert(value("st_astext(st_geomfromtext('LINESTRING Z (1 2 NaN, 3 4 5)'))") == "LINESTRING Z(1 2 NaN, 3 4 5)")
    assert(value("st_astext(st_point(double('NaN'), double('NaN')))") == "POINT EMPTY")
    // Big-endian WKB
    assert(value("st_astext(X'00000000013FF00000000000004000000000000000')") == "POINT (1 2)")
    val nulls = Seq("st_geomfromtext(NULL)", "st_astext(NULL)", "st_point(1, NULL)", "st_box(NULL, 1, 2, 3)") ++
      Seq("st_intersects(NULL, st_point(1, 1))", "st_intersects(st_point(1, 1), NULL)", "st_aswkb(NULL)")
    nulls.foreach(e => assert(value(e) == null, e))
  }

  test("geometries intersect if they have a common point on the plane", SparkRules.spatialFunctions) {
    def intersect(a: String, b: String) =
      (value(s"st_intersects($a, $b)"), value(s"st_intersects($b, $a)")) match {
        case (x: Boolean, y: Boolean) =>
          assert(x == y)
          x
        case other => fail(other.toString)
      }
    def text(wkt: String) = s"st_geomfromtext('$wkt')"
    val box = "st_box(0, 0, 10, 10)"
    assert(intersect("st_point(0, 10)", box) && !intersect("st_point(0, 10.0001)", box))
    // The boxes of the line and the triangle intersect the box, the shapes do not.
    assert(!intersect(text("LINESTRING (-5 8, 8 21)"), box) && intersect(text("LINESTRING (-5 5, 15 5)"), box))
    assert(!intersect(text("POLYGON ((-9 5, 5 19, -9 19, -9 5))"), box))
    val ring = text("POLYGON ((-5 -5, 20 -5, 20 20, -5 20, -5 -5), (-1 -1, 11 -1, 11 11, -1 11, -1 -1))")
    assert(!intersect(ring, box) && intersect(text("POLYGON ((-5 -5, 20 -5, 20 20, -5 20, -5 -5))"), box))
    assert(intersect(text("GEOMETRYCOLLECTION (POINT (50 50), LINESTRING (9 9, 12 12))"), box))
    Seq("POINT EMPTY", "POLYGON EMPTY", "GEOMETRYCOLLECTION EMPTY", "POINT (5 NaN)").foreach { empty =>
      assert(!intersect(text(empty), box) && !intersect(text(empty), text(empty)))
    }
    // A polygon that crosses itself
    assert(intersect(text("POLYGON ((0 0, 4 4, 4 0, 0 4, 0 0))"), box))
    val pairs = "(st_point(1, 1), st_box(0, 0, 2, 2)), (st_point(1, 1), st_box(3, 3, 4, 4)), (NULL, st_point(1, 1))"
    assert(rows(s"SELECT st_intersects(a, b) FROM VALUES $pairs AS t(a, b)".replace("st_", "lite.system.st_")) ==
      Seq(Row(true), Row(false), Row(null)))
  }

  test("geometries with thousands of empty parts are read") {
    val lines = Seq.fill(3000)("LINESTRING EMPTY").mkString("GEOMETRYCOLLECTION (", ", ", ", POINT (1 2))")
    assert(value(s"st_astext(st_geomfromtext('$lines'))") == lines)
    assert(value(s"st_intersects(st_point(1, 2), st_geomfromtext('$lines'))") == true)
  }

  test("geometries that are compared with many others have the same results, in any order of both arguments") {
    val shapes = Seq("POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))", "LINESTRING (0 0, 9 9)", "POINT (3 3)", "POINT EMPTY") ++
      Seq("GEOMETRYCOLLECTION (POINT (8 8), LINESTRING (0 5, 5 0))", "MULTIPOINT ((1 0), (6 6))", "POINT (5 0)")
    val wkb = shapes.map(Geometries.fromText)
    val latest = new Geometries.LatestGeometries
    def intersect(a: Int, b: Int) = Geometries.intersect(wkb(a).clone, wkb(b).clone, latest)
    val indices = shapes.indices
    val expected = for (b <- indices; a <- indices)
      yield (a, b) -> Geometries.intersect(wkb(a), wkb(b), new Geometries.LatestGeometries)
    assert(expected.count(_._2) == 22)
    // In the first order, the second argument is the same many times; in the second order, it is always another.
    for (order <- Seq(expected, expected.sortBy(_._1), expected, expected ++ expected); ((a, b), result) <- order)
      assert(intersect(a, b) == result, s"${shapes(a)} ${shapes(b)}")
  }

  test("invalid text, bytes and boxes are errors that name the function", SparkRules.spatialFunctions) {
    Seq(
      "POINT (1)",
      "POINT (1 2",
      "CIRCLE (1 2)",
      "",
      "POLYGON ((0 0, 1 1, 2 2, 3 3))",
      "LINESTRING (1 1)",
      "POINT (a b)",
      "POINT (1 2) garbage",
      "POINT (1 2))",
      "POINT (1 2) POINT (3 4)",
      "POINT EMPTY (1 2)",
      "POINT EMPTY EMPTY",
      "POINT (1 2)#",
      "(1 2)"
    )
      .foreach { text =>
        val error = failure(s"st_geomfromtext('$text')")
        assert(error.contains("Invalid value for WKT") && error.contains("st_geomfromtext"), error)
      }
    Seq("POINT (1e400 2)", "POINT Z (1 2 -1e400)", "POINT M (1 2 1e400)").foreach { text =>
      assert(failure(s"st_geomfromtext('$text')").contains("A coordinate is infinite"))
    }
    assert(failure("st_geomfromtext('SRID=4326;POINT (1 2)')").contains("Remove the SRID"))
    val deep = "concat(repeat('GEOMETRYCOLLECTION (', 20000), 'POINT (1 2)', repeat(')', 20000))"
    assert(failure(s"st_geomfromtext($deep)").contains("More than 19 parentheses"))
    // JTS skips comments. If their parentheses were counted, its parser would need a deep stack for the others.
    val comment = "concat('#', repeat(')', 30000), '\\n', repeat('GEOMETRYCOLLECTION (', 20000))"
    assert(failure(s"st_geomfromtext($comment)").contains("It contains the character #"))
    val closed = "concat('POINT ', repeat(')', 30000), repeat('GEOMETRYCOLLECTION (', 20000))"
    assert(failure(s"st_geomfromtext($closed)").contains("Invalid value for WKT"))
    assert(failure("st_geomfromtext('POINT (1 2) POINT (3 4)')").contains("Text follows the geometry: POINT (3 4)"))
    assert(failure("st_geomfromtext(concat('POINT (', repeat('9', 1000000), 'x)'))").length < 20000)
    Seq("st_astext", "st_geomfromwkb", "st_aswkb").foreach { function =>
      assert(failure(s"$function(X'0102')").contains("The bytes are not a geometry"))
      assert(failure(s"$function(X'0107000000FFFFFFFF')").contains("4294967295"))
    }
    assert(failure("st_intersects(X'01', st_point(1, 1))").contains("The bytes are not a geometry"))
    assert(failure("st_geomfromwkb(X'0101000020E6100000000000000000F03F0000000000000040')").contains("It is EWKB"))
    assert(failure("st_box(170, 0, -170, 1)").contains("across the antimeridian"))
    assert(failure("st_box(0, 0, 'NaN', 1)").contains("st_box"))
    assert(failure("st_box(0, 0, double('NaN'), 1)").contains("without NaN"))
    assert(failure("st_box(double('-Infinity'), 0, 1, 1)").contains("without NaN and infinity"))
    assert(failure("st_point(1, double('-Infinity'))").contains("st_point"))
    assert(failure("st_point('a', 1)").contains("use st_point(x, y)"))
    assert(failure("st_astext('POINT (1 2)')").contains("use st_astext(geometry)"))
  }
}
