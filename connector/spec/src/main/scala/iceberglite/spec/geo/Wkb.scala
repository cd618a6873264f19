package iceberglite.spec.geo

import java.nio.{ByteBuffer, ByteOrder}

import iceberglite.spec.IcebergError.InvalidArgument

/**
 * Well-known binary (WKB, ISO 13249-3), the form in which values of the types geometry and geography are stored:
 * points, lines, polygons and their collections, with x and y and optionally z and m, in either byte order.
 */
object Wkb {

  /**
   * The maximum number of collections that contain each other. It limits the memory for reading hostile values, and the
   * time of comparisons: with each level, JTS needs twice the time to locate a point.
   */
  val MaxDepth = 16

  private[geo] val Point = 1
  private[geo] val LineString = 2
  private[geo] val Polygon = 3
  private[geo] val MultiPoint = 4
  private[geo] val MultiLineString = 5
  private[geo] val MultiPolygon = 6
  private[geo] val GeometryCollection = 7

  /**
   * Checks a value, and adds its coordinates to an extent. The value consists of the bytes of the buffer from its
   * position to its limit. The method changes neither of them. The memory that this method takes does not depend on the
   * numbers in the value.
   *
   * @throws InvalidArgument if the value is not WKB
   */
  def addTo(extent: Extent, wkb: ByteBuffer): Unit = new WkbScan(wkb.duplicate(), extent).value()

  /** The flags of EWKB for z, m and the SRID in the code of a type. */
  private val ExtendedFlags = 0xe0000000

  /** Whether bytes begin like WKB or EWKB. This is also possible for a coordinate, but unlikely. */
  private[geo] def isStart(bytes: ByteBuffer): Boolean = bytes.remaining >= 5 && {
    val order = bytes.get(bytes.position())
    val in = bytes.duplicate().order(if (order == 1) ByteOrder.LITTLE_ENDIAN else ByteOrder.BIG_ENDIAN)
    val code = in.getInt(in.position() + 1) & ~ExtendedFlags
    (order == 0 || order == 1) && Ordinates.of(code / 1000).isDefined && isKind(code % 1000)
  }

  private[geo] def isKind(code: Int): Boolean = code >= Point && code <= GeometryCollection

  /** Returns the rectangle that contains all coordinates of a value; absent if it is empty. */
  def box(wkb: ByteBuffer): Option[BoundingBox] = {
    val extent = new Extent
    addTo(extent, wkb)
    extent.box
  }
}

/** Reads one value. */
final private class WkbScan(in: ByteBuffer, extent: Extent) {
  import Wkb._

  private val size = in.remaining

  def value(): Unit = {
    geometry(expected = 0, ordinates = None, depth = 0)
    if (in.hasRemaining) fail(s"${in.remaining} bytes follow the geometry")
  }

  /**
   * Reads a geometry.
   *
   * @param expected the required type; 0 if any type is permitted
   * @param ordinates the required coordinates; absent if any are permitted
   */
  private def geometry(expected: Int, ordinates: Option[Ordinates], depth: Int): Unit = {
    if (depth > MaxDepth) fail(s"More than $MaxDepth collections contain each other")
    need(5, 1)
    in.order(in.get() match {
      case 0 => ByteOrder.BIG_ENDIAN
      case 1 => ByteOrder.LITTLE_ENDIAN
      case other => fail(s"The byte order must be 0 or 1, not $other")
    })
    val code = in.getInt() & 0xffffffffL
    val (kind, own) = ((code % 1000).toInt, Ordinates.of(code / 1000))
    if (own.isEmpty || !isKind(kind)) unknown(code)
    if (expected != 0 && kind != expected) fail(s"A part has the type $kind instead of $expected")
    if (ordinates.exists(o => !own.contains(o))) fail("A part has other dimensions than the whole")
    own.foreach(body(kind, _, depth))
  }

  private def body(kind: Int, o: Ordinates, depth: Int): Unit = kind match {
    case Point =>
      need(1, o.size)
      coordinate(o)
    case LineString => line(o)
    case Polygon => for (_ <- 0 until count(Integer.BYTES)) ring(o)
    case MultiPoint => parts(Point, o, depth)
    case MultiLineString => parts(LineString, o, depth)
    case MultiPolygon => parts(Polygon, o, depth)
    case GeometryCollection => parts(0, o, depth)
  }

  private def parts(kind: Int, o: Ordinates, depth: Int): Unit =
    for (_ <- 0 until count(PartSize)) geometry(kind, Some(o), depth + 1)

  private def line(o: Ordinates): Unit = {
    val points = count(o.size)
    if (points == 1) fail("A line has only one point")
    if (points > 0) extent.addEdges()
    for (_ <- 0 until points) coordinate(o)
  }

  /** Reads a ring of a polygon, which is closed or empty. */
  private def ring(o: Ordinates): Unit = {
    val points = count(o.size)
    if (points > 0) {
      val (first, last) = (in.position(), in.position() + (points - 1) * o.size)
      if (points < 4) fail(s"A ring of a polygon has only $points points")
      def isSame(offset: Int) = in.getDouble(first + offset) == in.getDouble(last + offset)
      if (!isSame(0) || !isSame(java.lang.Double.BYTES)) fail("A ring of a polygon is not closed")
      extent.addEdges()
    }
    for (_ <- 0 until points) coordinate(o)
  }

  private def coordinate(o: Ordinates): Unit = {
    extent.addX(in.getDouble())
    extent.addY(in.getDouble())
    if (o.hasZ) extent.addZ(in.getDouble())
    if (o.hasM) extent.addM(in.getDouble())
  }

  /** Reads a number of parts. @param partSize the least number of bytes that a part has */
  private def count(partSize: Int): Int = {
    need(1, Integer.BYTES)
    val n = in.getInt() & 0xffffffffL
    need(n, partSize)
    n.toInt
  }

  private def need(parts: Long, partSize: Int): Unit =
    if (parts * partSize > in.remaining) fail(s"It ends too early, or the number $parts in it is wrong")

  /** The size of an empty part of a collection: byte order, type and count. */
  private def PartSize: Int = 1 + 2 * Integer.BYTES

  private def unknown(code: Long): Nothing =
    if ((code & 0xe0000000L) != 0) fail("It is EWKB. Write WKB without an SRID, whose dimensions are in the type code")
    else fail(s"Its type $code is unknown")

  private def fail(reason: String): Nothing =
    throw InvalidArgument("WKB", s"$size bytes", s"The bytes are not a geometry. $reason")
}

/** The coordinates of each point. */
sealed abstract private class Ordinates(val hasZ: Boolean, val hasM: Boolean) {

  /** The number of bytes of a point. */
  final val size: Int = java.lang.Double.BYTES * (2 + (if (hasZ) 1 else 0) + (if (hasM) 1 else 0))
}

private object Ordinates {
  private object XY extends Ordinates(false, false)
  private object XYZ extends Ordinates(true, false)
  private object XYM extends Ordinates(false, true)
  private object XYZM extends Ordinates(true, true)
  private val all = Vector[Ordinates](XY, XYZ, XYM, XYZM)

  /** Returns the coordinates for the thousands of a type code. */
  def of(thousands: Long): Option[Ordinates] = if (thousands < all.size) Some(all(thousands.toInt)) else None
}
