package iceberglite.spec.geo

/**
 * The ranges of the coordinates of geometries, which [[Wkb.addTo]] collects. NaN coordinates are skipped, so that
 * `POINT (1 NaN)` has an x but no y.
 */
final class Extent {
  private val x = new Extent.Axis
  private val y = new Extent.Axis
  private val z = new Extent.Axis
  private val m = new Extent.Axis
  private var edges = false

  private[geo] def addX(value: Double): Unit = x.add(value)
  private[geo] def addY(value: Double): Unit = y.add(value)
  private[geo] def addZ(value: Double): Unit = z.add(value)
  private[geo] def addM(value: Double): Unit = m.add(value)
  private[geo] def addEdges(): Unit = edges = true

  /** Returns the rectangle that contains all coordinates; absent if no geometry has an x, or none has a y. */
  def box: Option[BoundingBox] = BoundingBox.of(x.min, y.min, x.max, y.max)

  /** Returns the bounds of a column of type geometry; absent if no geometry has an x, or none has a y. */
  def geometryBounds: Option[(PointBound, PointBound)] = box.map { b =>
    (PointBound(b.xMin, b.yMin, z.minimum, m.minimum), PointBound(b.xMax, b.yMax, z.maximum, m.maximum))
  }

  /**
   * Returns the bounds of a column of type geography, if all of its values are points. An edge between two points on an
   * ellipsoid may leave the ranges of the points' coordinates: it bends towards a pole, and may cross the antimeridian.
   * Therefore, values with edges have no bounds. The bounds are also absent if a coordinate is not a valid longitude or
   * latitude.
   */
  def geographyBounds: Option[(PointBound, PointBound)] = geometryBounds.filter { case (low, high) =>
    !edges && low.x >= -180 && high.x <= 180 && low.y >= -90 && high.y <= 90
  }
}

private object Extent {

  /** The range of one coordinate. */
  final private class Axis {
    var min: Double = Double.PositiveInfinity
    var max: Double = Double.NegativeInfinity

    def add(value: Double): Unit = {
      if (value < min) min = value
      if (value > max) max = value
    }

    def minimum: Option[Double] = if (min <= max) Some(min) else None

    def maximum: Option[Double] = if (min <= max) Some(max) else None
  }
}
