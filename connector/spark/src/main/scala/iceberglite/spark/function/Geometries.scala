package iceberglite.spark.function

import java.nio.ByteBuffer
import java.util.Arrays

import scala.util.control.NonFatal

import org.locationtech.jts.geom.Geometry
import org.locationtech.jts.geom.prep.{PreparedGeometry, PreparedGeometryFactory}
import org.locationtech.jts.io.{Ordinate, ParseException, WKBReader, WKTReader, WKTWriter}

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.geo.{BoundingBox, Extent, Wkb}

/**
 * Geometries as values of Spark: WKB in binaries. Operations use the JTS library. It compares geometries on the plane,
 * with straight edges between points.
 */
private[iceberglite] object Geometries {
  private val ShownCharacters = 100

  /**
   * Returns the box that contains all coordinates; absent if the geometry is empty.
   *
   * @throws InvalidArgument if the bytes are not WKB
   */
  def box(wkb: Array[Byte]): Option[BoundingBox] = Wkb.box(ByteBuffer.wrap(wkb))

  /** Returns the bytes after a check. */
  def checked(wkb: Array[Byte]): Array[Byte] = {
    Wkb.addTo(new Extent, ByteBuffer.wrap(wkb))
    wkb
  }

  /** Parses well-known text (WKT). @throws InvalidArgument if the text is not WKT */
  def fromText(wkt: String): Array[Byte] = {
    def invalid(reason: String) =
      throw InvalidArgument("WKT", shortened(wkt), s"The text is not a geometry. ${shortened(reason)}")
    if (wkt.trim.regionMatches(true, 0, "SRID=", 0, 5))
      invalid("Remove the SRID: the column has the coordinate reference system")
    if (depth(wkt) > Wkb.MaxDepth) invalid(s"More than ${Wkb.MaxDepth} parentheses contain each other")
    try checked(IsoWkb.of(new WKTReader().read(wkt)))
    catch {
      case e @ (_: ParseException | _: IllegalArgumentException) => invalid(String.valueOf(e.getMessage))
      case InvalidArgument(_, _, reason) => invalid(reason)
    }
  }

  private def shortened(text: String): String =
    if (text.length > ShownCharacters) s"${text.take(ShownCharacters)}..." else text

  /** Returns the maximum number of parentheses that contain each other. JTS uses a stack frame for each of them. */
  private def depth(text: String): Int = {
    var (current, most) = (0, 0)
    text.foreach { c =>
      if (c == '(') current += 1 else if (c == ')') current -= 1
      most = math.max(most, current)
    }
    most
  }

  /** Returns well-known text (WKT). @throws InvalidArgument if the bytes are not WKB */
  def toText(wkb: Array[Byte]): String = {
    val geometry = parsed(wkb)
    val (hasZ, hasM) = IsoWkb.ordinatesOf(geometry)
    val writer = new WKTWriter(2 + (if (hasZ) 1 else 0) + (if (hasM) 1 else 0))
    if (hasM && !hasZ) writer.setOutputOrdinates(Ordinate.createXYM)
    writer.write(geometry)
  }

  private def parsed(wkb: Array[Byte]): Geometry = {
    checked(wkb)
    in(wkb)(new WKBReader().read(wkb))
  }

  /** Runs an operation of JTS. @throws InvalidArgument if JTS rejects the geometry */
  private def in[A](wkb: Array[Byte])(operation: => A): A =
    try operation
    catch {
      case e: InvalidArgument => throw e
      case NonFatal(e) =>
        throw InvalidArgument("geometry", s"WKB of ${wkb.length} bytes", shortened(s"${e.getMessage}"))
    }

  /**
   * A geometry with which many others are compared.
   *
   * @throws InvalidArgument if the bytes are not WKB
   */
  final class Prepared(val wkb: Array[Byte]) {
    private val extent: Option[BoundingBox] = box(wkb)
    private val geometry: PreparedGeometry = PreparedGeometryFactory.prepare(parsed(wkb))

    /** Whether the geometries have a common point. Geometries whose boxes have none are not parsed. */
    def intersects(other: Array[Byte]): Boolean = {
      val extents = for (mine <- extent; theirs <- box(other)) yield mine.intersects(theirs)
      extents.contains(true) && in(other)(geometry.intersects(parsed(other)))
    }

    def isOf(bytes: Array[Byte]): Boolean = (bytes eq wkb) || Arrays.equals(bytes, wkb)
  }
}
