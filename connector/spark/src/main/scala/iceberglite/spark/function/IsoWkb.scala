package iceberglite.spark.function

import java.io.{ByteArrayOutputStream, DataOutputStream}

import org.locationtech.jts.geom._

import iceberglite.spec.geo.BoundingBox

/**
 * Writes geometries as WKB of ISO 13249-3. The writer of JTS writes z and m as EWKB, with other type codes, which the
 * specification of tables does not permit. Bytes are little-endian.
 */
private[function] object IsoWkb {
  private val LittleEndian = 1
  private val factory = new GeometryFactory

  def of(geometry: Geometry): Array[Byte] = {
    val (hasZ, hasM) = ordinatesOf(geometry)
    val bytes = new ByteArrayOutputStream
    new Writer(new DataOutputStream(bytes), hasZ, hasM).geometry(geometry)
    bytes.toByteArray
  }

  /** Returns a polygon with the sides of a box. */
  def rectangle(box: BoundingBox): Array[Byte] = {
    val corners = Seq(box.xMin -> box.yMin, box.xMax -> box.yMin, box.xMax -> box.yMax, box.xMin -> box.yMax)
    val ring = (corners :+ corners.head).map { case (x, y) => new Coordinate(x, y) }
    of(factory.createPolygon(ring.toArray))
  }

  /** Returns a point. */
  def point(x: Double, y: Double): Array[Byte] = of(factory.createPoint(new Coordinate(x, y)))

  /** Whether any point of a geometry has a z, and whether any has an m. */
  def ordinatesOf(geometry: Geometry): (Boolean, Boolean) = {
    var (hasZ, hasM) = (false, false)
    geometry.apply(new CoordinateSequenceFilter {
      override def filter(points: CoordinateSequence, i: Int): Unit = {
        hasZ ||= points.hasZ && !points.getZ(i).isNaN
        hasM ||= points.hasM && !points.getM(i).isNaN
      }
      override def isDone: Boolean = hasZ && hasM
      override def isGeometryChanged: Boolean = false
    })
    (hasZ, hasM)
  }

  /** Whether no coordinate of a geometry is infinite. A z or m that a point does not have is NaN. */
  def isFinite(geometry: Geometry): Boolean = {
    var isInfinite = false
    geometry.apply(new CoordinateSequenceFilter {
      override def filter(points: CoordinateSequence, i: Int): Unit =
        isInfinite ||= (0 until points.getDimension).exists(d => points.getOrdinate(i, d).isInfinite)
      override def isDone: Boolean = isInfinite
      override def isGeometryChanged: Boolean = false
    })
    !isInfinite
  }

  final private class Writer(out: DataOutputStream, hasZ: Boolean, hasM: Boolean) {
    private val dimensions = (if (hasZ) 1000 else 0) + (if (hasM) 2000 else 0)

    def geometry(g: Geometry): Unit = g match {
      case point: Point =>
        start(1)
        if (point.isEmpty) emptyPoint() else coordinate(point.getCoordinateSequence, 0)
      case line: LineString =>
        start(2)
        sequence(line.getCoordinateSequence)
      case polygon: Polygon =>
        start(3)
        this.polygon(polygon)
      case points: MultiPoint => parts(4, points)
      case lines: MultiLineString => parts(5, lines)
      case polygons: MultiPolygon => parts(6, polygons)
      case collection => parts(7, collection)
    }

    private def start(kind: Int): Unit = {
      out.writeByte(LittleEndian)
      int(kind + dimensions)
    }

    private def polygon(p: Polygon): Unit =
      if (p.isEmpty) int(0)
      else {
        int(1 + p.getNumInteriorRing)
        sequence(p.getExteriorRing.getCoordinateSequence)
        for (i <- 0 until p.getNumInteriorRing) sequence(p.getInteriorRingN(i).getCoordinateSequence)
      }

    private def parts(kind: Int, g: Geometry): Unit = {
      start(kind)
      int(g.getNumGeometries)
      for (i <- 0 until g.getNumGeometries) geometry(g.getGeometryN(i))
    }

    private def sequence(points: CoordinateSequence): Unit = {
      int(points.size)
      for (i <- 0 until points.size) coordinate(points, i)
    }

    private def coordinate(points: CoordinateSequence, i: Int): Unit = {
      double(points.getX(i))
      double(points.getY(i))
      if (hasZ) double(points.getZ(i))
      if (hasM) double(points.getM(i))
    }

    private def emptyPoint(): Unit = {
      val ordinates = 2 + (if (hasZ) 1 else 0) + (if (hasM) 1 else 0)
      for (_ <- 0 until ordinates) double(Double.NaN)
    }

    private def int(v: Int): Unit = out.writeInt(Integer.reverseBytes(v))

    private def double(v: Double): Unit =
      out.writeLong(java.lang.Long.reverseBytes(java.lang.Double.doubleToLongBits(v)))
  }
}
