package iceberglite.spec.geo

import java.nio.{ByteBuffer, ByteOrder}

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.MetricsRules
import iceberglite.spec.IcebergError.InvalidArgument

class WkbSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import WkbSuite._

  private def bounds(values: ByteBuffer*): Option[(PointBound, PointBound)] = extentOf(values).geometryBounds

  private def extentOf(values: Seq[ByteBuffer]): Extent = {
    val extent = new Extent
    values.foreach(Wkb.addTo(extent, _))
    extent
  }

  private def reasonFor(wkb: ByteBuffer): String = intercept[InvalidArgument](Wkb.box(wkb)).reason

  test("bounds contain all coordinates of all geometries, without NaN", MetricsRules.spatialBounds) {
    val line = geometry(2, count(2), point(1, 5), point(-3, 2))
    val square = ring(point(0, 0), point(10, 0), point(10, 10), point(0, 0))
    assert(bounds(line) == Some((PointBound(-3, 2, None, None), PointBound(1, 5, None, None))))
    assert(bounds(line, geometry(3, count(1), square)).map(_._2) == Some(PointBound(10, 10, None, None)))
    val zm = geometry(3001, point(1, 2, Double.NaN, 4))
    assert(bounds(zm, geometry(1001, point(7, 8, 9))) ==
      Some((PointBound(1, 2, Some(9), Some(4)), PointBound(7, 8, Some(9), Some(4)))))
    val collection = geometry(7, count(2), geometry(1, point(1, 1)), geometry(4, count(1), geometry(1, point(2, 3))))
    assert(bounds(collection).map(_._2) == Some(PointBound(2, 3, None, None)))
    // POINT EMPTY, and points that lack an x or a y
    assert(bounds(geometry(1, point(Double.NaN, Double.NaN))).isEmpty && bounds(geometry(3, count(0))).isEmpty)
    assert(bounds(geometry(1, point(1, Double.NaN))).isEmpty)
    assert(bounds(geometry(1, point(1, Double.NaN)), geometry(1, point(5, 6))) ==
      Some((PointBound(1, 6, None, None), PointBound(5, 6, None, None))))
    val infinite = geometry(1, point(Double.PositiveInfinity, 0))
    assert(bounds(infinite).map(_._1.x) == Some(Double.PositiveInfinity))
    assert(bounds(infinite, geometry(1, point(0, 0))).map(b => (b._1.x, b._2.x)) ==
      Some((0.0, Double.PositiveInfinity)))
  }

  test("geographies have bounds only if all values are points with canonical coordinates", MetricsRules.spatialBounds) {
    def ofGeography(values: ByteBuffer*) = extentOf(values).geographyBounds
    val points = geometry(4, count(2), geometry(1, point(179, 10)), geometry(1, point(-179, 20)))
    assert(ofGeography(points) == Some((PointBound(-179, 10, None, None), PointBound(179, 20, None, None))))
    assert(ofGeography(points, geometry(2, count(2), point(1, 1), point(2, 2))).isEmpty)
    assert(ofGeography(points, geometry(3, count(1), ring(point(0, 0), point(1, 0), point(1, 1), point(0, 0)))).isEmpty)
    assert(ofGeography(points, geometry(2, count(0))).isDefined)
    assert(ofGeography(geometry(1, point(181, 0))).isEmpty && ofGeography(geometry(1, point(0, -90.5))).isEmpty)
  }

  test("bounds are encoded as little-endian points, and invalid bounds are ignored", MetricsRules.spatialBounds) {
    def bytes(values: Double*) = {
      val buffer = ByteBuffer.allocate(values.size * 8).order(ByteOrder.LITTLE_ENDIAN)
      values.foreach(buffer.putDouble)
      buffer.flip()
      buffer
    }
    val all = Seq(
      PointBound(1, 2, None, None) -> bytes(1, 2),
      PointBound(1, 2, Some(3), None) -> bytes(1, 2, 3),
      PointBound(1, 2, None, Some(4)) -> bytes(1, 2, Double.NaN, 4),
      PointBound(1, 2, Some(3), Some(4)) -> bytes(1, 2, 3, 4)
    )
    all.foreach { case (bound, encoded) =>
      assert(bound.encode == encoded && PointBound.decode(encoded.order(ByteOrder.BIG_ENDIAN)) == Some(bound))
    }
    val invalid = Seq(bytes(), bytes(1), bytes(Double.NaN, 1), bytes(1, Double.NaN), bytes(1, 2, 3, 4, 5))
    assert((invalid :+ ByteBuffer.allocate(17)).forall(PointBound.decode(_).isEmpty))
    def box(low: ByteBuffer, high: ByteBuffer, isGeography: Boolean) =
      BoundingBox.ofBounds(Some(low), Some(high), isGeography)
    assert(box(bytes(1, 2), bytes(3, 4), isGeography = false) == Some(BoundingBox(1, 2, 3, 4)))
    assert(box(bytes(3, 2), bytes(1, 4), isGeography = false).isEmpty)
    assert(box(bytes(1, 4), bytes(3, 2), isGeography = true).isEmpty)
    assert(box(bytes(170, 2), bytes(-170, 4), isGeography = true).map(b => (b.yMin, b.yMax, b.xMax)) ==
      Some((2.0, 4.0, Double.PositiveInfinity)))
    assert(BoundingBox.ofBounds(None, Some(bytes(1, 2)), isGeography = false).isEmpty)
  }

  test("values that are not WKB are rejected, with bounded memory", MetricsRules.spatialBounds) {
    assert(reasonFor(ByteBuffer.allocate(0)).contains("ends too early"))
    assert(reasonFor(bytesOf(2, 1, 0, 0, 0)).contains("byte order must be 0 or 1, not 2"))
    assert(reasonFor(geometry(8, count(0))).contains("type 8 is unknown"))
    assert(reasonFor(geometry(4001, point(1, 1))).contains("type 4001 is unknown"))
    assert(reasonFor(geometry(0x20000001, count(4326), point(1, 1))).contains("It is EWKB"))
    assert(reasonFor(geometry(0x80000001, point(1, 1, 1))).contains("It is EWKB"))
    for (kind <- 2 to 7; n <- Seq(-1, Int.MaxValue, Int.MinValue, 1 << 20))
      assert(reasonFor(geometry(kind, count(n))).contains("is wrong"))
    assert(reasonFor(concat(geometry(1, point(1, 1)), bytesOf(0))).contains("1 bytes follow"))
    assert(reasonFor(geometry(2, count(1), point(1, 1))).contains("only one point"))
    assert(reasonFor(geometry(3, count(1), ring(point(0, 0), point(1, 1), point(0, 0)))).contains("only 3 points"))
    val open = ring(point(0, 0), point(1, 0), point(1, 1), point(0, 1))
    assert(reasonFor(geometry(3, count(1), open)).contains("not closed"))
    assert(reasonFor(geometry(4, count(1), geometry(2, count(0), bytesOf()))).contains("type 2 instead of 1"))
    assert(reasonFor(geometry(7, count(1), geometry(1001, point(1, 2, 3)))).contains("other dimensions"))
    def nested(depth: Int): ByteBuffer =
      (1 to depth).foldLeft(geometry(1, point(1, 1)))((part, _) => geometry(7, count(1), part))
    assert(Wkb.box(nested(Wkb.MaxDepth)) == Some(BoundingBox(1, 1, 1, 1)))
    assert(reasonFor(nested(Wkb.MaxDepth + 1)).contains("More than 16 collections"))
    assert(reasonFor(nested(3000)).contains("More than 16 collections"))
  }

  test("every truncated value is rejected, and changed bytes cause no other error than the error for WKB") {
    val part = geometry(3, count(1), ring(point(0, 0), point(1, 0), point(1, 1), point(0, 0)))
    val whole = geometry(7, count(2), part, geometry(5, count(1), geometry(2, count(2), point(1, 2), point(3, 4))))
    val bytes = whole.array.take(whole.remaining)
    bytes.indices.foreach(n => reasonFor(ByteBuffer.wrap(bytes, 0, n)))
    val changes = Gen.nonEmptyListOf(Gen.zip(Gen.choose(0, bytes.length - 1), Gen.choose(-128, 127)))
    forAll(changes) { list =>
      val changed = bytes.clone
      list.foreach { case (i, v) => changed(i) = v.toByte }
      try Wkb.box(ByteBuffer.wrap(changed))
      catch { case _: InvalidArgument => () }
    }
  }

  test("both byte orders are read, also within one value, and the buffer's position does not change") {
    val big = ByteBuffer.allocate(21).put(0.toByte).putInt(1).putDouble(3).putDouble(4)
    big.flip()
    val both = geometry(4, count(2), geometry(1, point(1, 1)), big)
    assert(Wkb.box(both) == Some(BoundingBox(1, 1, 3, 4)) && both.position() == 0 && both.order == ByteOrder.BIG_ENDIAN)
  }
}

object WkbSuite {

  /** Returns little-endian WKB of a type with the given contents. */
  def geometry(code: Int, contents: ByteBuffer*): ByteBuffer = {
    val start = ByteBuffer.allocate(5).order(ByteOrder.LITTLE_ENDIAN).put(1.toByte).putInt(code)
    start.flip()
    concat(start +: contents: _*)
  }

  def point(ordinates: Double*): ByteBuffer = {
    val bytes = ByteBuffer.allocate(ordinates.size * 8).order(ByteOrder.LITTLE_ENDIAN)
    ordinates.foreach(bytes.putDouble)
    bytes.flip()
    bytes
  }

  def count(n: Int): ByteBuffer = {
    val bytes = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(n)
    bytes.flip()
    bytes
  }

  def ring(points: ByteBuffer*): ByteBuffer = concat(count(points.size) +: points: _*)

  def bytesOf(values: Int*): ByteBuffer = ByteBuffer.wrap(values.map(_.toByte).toArray)

  def concat(parts: ByteBuffer*): ByteBuffer = {
    val bytes = ByteBuffer.allocate(parts.map(_.remaining).sum)
    parts.foreach(p => bytes.put(p.duplicate()))
    bytes.flip()
    bytes
  }
}
