package iceberglite.spec.geo

import java.nio.{ByteBuffer, ByteOrder}

/**
 * A closed rectangle in the coordinates of a column: points on its sides belong to it. No coordinate is NaN, and no
 * minimum is greater than its maximum. Sides may be infinite.
 */
final case class BoundingBox(xMin: Double, yMin: Double, xMax: Double, yMax: Double) {

  /** Whether the rectangles have a common point. */
  def intersects(other: BoundingBox): Boolean =
    xMin <= other.xMax && other.xMin <= xMax && yMin <= other.yMax && other.yMin <= yMax

  override def toString: String = s"BOX($xMin $yMin, $xMax $yMax)"
}

object BoundingBox {

  /** Returns a rectangle; absent if a coordinate is NaN or a minimum is greater than its maximum. */
  def of(xMin: Double, yMin: Double, xMax: Double, yMax: Double): Option[BoundingBox] =
    if (xMin <= xMax && yMin <= yMax) Some(BoundingBox(xMin, yMin, xMax, yMax)) else None

  /**
   * Returns the rectangle that contains the coordinates of all values of a column in a file.
   *
   * A geography may cross the antimeridian. Then the x of its lower bound is greater than the x of its upper bound, and
   * values may have coordinates on both sides. Their x is considered unlimited, because edges between the sides may
   * have any x when they are compared on the plane.
   *
   * @param lower the lower bound of the column, as metadata stores it
   * @param isGeography whether the column is of type geography
   * @return absent if the bounds are missing or not valid, so that nothing is known about the values
   */
  def ofBounds(lower: Option[ByteBuffer], upper: Option[ByteBuffer], isGeography: Boolean): Option[BoundingBox] =
    for {
      // Writers that treat geometries as binaries store the start of the least and greatest WKB.
      low <- lower.filterNot(bytes => Wkb.isStart(bytes) && upper.exists(Wkb.isStart)).flatMap(PointBound.decode)
      high <- upper.flatMap(PointBound.decode)
      crosses = isGeography && low.x > high.x
      box <-
        if (crosses) of(Double.NegativeInfinity, low.y, Double.PositiveInfinity, high.y)
        else of(low.x, low.y, high.x, high.y)
    } yield box
}

/**
 * A bound of a column of type geometry or geography: a point.
 *
 * @param z absent if no value has a z coordinate
 */
final case class PointBound(x: Double, y: Double, z: Option[Double], m: Option[Double]) {

  /** Returns the bytes of the bound in metadata: little-endian doubles x, y, z and m. The last ones may be absent. */
  def encode: ByteBuffer = {
    val coordinates = Vector(x, y) ++ (if (m.isDefined) Vector(z.getOrElse(Double.NaN)) ++ m else z.toVector)
    val bytes = ByteBuffer.allocate(coordinates.size * java.lang.Double.BYTES).order(ByteOrder.LITTLE_ENDIAN)
    coordinates.foreach(bytes.putDouble)
    bytes.rewind()
    bytes
  }
}

object PointBound {
  private val Size = java.lang.Double.BYTES

  /** Decodes a bound. @return absent if the bytes are not a point with x and y, so that readers ignore the bound */
  def decode(bytes: ByteBuffer): Option[PointBound] = {
    val in = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN)
    def coordinate(i: Int): Option[Double] =
      if (in.remaining < (i + 1) * Size) None else Some(in.getDouble(in.position() + i * Size)).filterNot(_.isNaN)
    if (in.remaining % Size != 0 || in.remaining > 4 * Size) None
    else for (x <- coordinate(0); y <- coordinate(1)) yield PointBound(x, y, coordinate(2), coordinate(3))
  }
}
