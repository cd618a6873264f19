package iceberglite.spark.function

import java.nio.ByteBuffer
import java.util.Arrays

import scala.util.control.NonFatal

import org.locationtech.jts.geom.{Geometry, PrecisionModel}
import org.locationtech.jts.geom.prep.{PreparedGeometry, PreparedGeometryFactory}
import org.locationtech.jts.io.{
  ByteArrayInStream,
  Ordinate,
  OrdinateFormat,
  ParseException,
  WKBReader,
  WKTReader,
  WKTWriter
}

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.geo.{BoundingBox, Extent, Wkb}

/**
 * Geometries as values of Spark: WKB in binaries. Operations use the JTS library. It compares geometries on the plane,
 * with straight edges between points.
 */
private[iceberglite] object Geometries {
  private val ShownCharacters = 100

  /** Lets JTS write all digits of coordinates. By default, it writes at most 16 digits after the decimal point. */
  private object AllDigits extends PrecisionModel {
    override def getMaximumSignificantDigits: Int = OrdinateFormat.MAX_FRACTION_DIGITS
  }

  /**
   * Returns the box that contains all coordinates; absent if the geometry is empty.
   *
   * @throws InvalidArgument if the bytes are not WKB
   */
  def box(wkb: Array[Byte]): Option[BoundingBox] = Wkb.box(ByteBuffer.wrap(wkb))

  /** Returns the bytes after checking that they are WKB. @throws InvalidArgument if they are not */
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
    WktSyntax.fault(wkt).foreach(invalid)
    try {
      val geometry = new WKTReader().read(wkt)
      if (!IsoWkb.isFinite(geometry)) invalid("A coordinate is infinite, or too large for a double")
      checked(IsoWkb.of(geometry))
    } catch {
      case e @ (_: ParseException | _: IllegalArgumentException) => invalid(String.valueOf(e.getMessage))
      case InvalidArgument(_, _, reason) => invalid(reason)
    }
  }

  private def shortened(text: String): String =
    if (text.length > ShownCharacters) s"${text.take(ShownCharacters)}..." else text

  /** Returns well-known text (WKT). @throws InvalidArgument if the bytes are not WKB */
  def toText(wkb: Array[Byte]): String = {
    val geometry = parsed(wkb)
    val (hasZ, hasM) = IsoWkb.ordinatesOf(geometry)
    val writer = new WKTWriter(2 + (if (hasZ) 1 else 0) + (if (hasM) 1 else 0))
    writer.setPrecisionModel(AllDigits)
    if (hasM && !hasZ) writer.setOutputOrdinates(Ordinate.createXYM)
    writer.write(geometry)
  }

  private def parsed(wkb: Array[Byte]): Geometry = {
    checked(wkb)
    // For arrays, JTS limits the number of parts by the length, and rejects geometries with many empty parts. Here, the
    // counts have been checked.
    in(wkb)(new WKBReader().read(new ByteArrayInStream(wkb)))
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
   * Whether two geometries have a common point. If their boxes have no common point, the geometries are not parsed.
   *
   * @param latest the latest second arguments, one of which is usually the constant of a filter
   * @throws InvalidArgument if the bytes are not WKB
   */
  def intersect(wkb: Array[Byte], other: Array[Byte], latest: LatestGeometries): Boolean = {
    val known = latest.of(other)
    val (mine, theirs) = (box(wkb), known.box)
    mine.exists(a => theirs.exists(_.intersects(a))) && in(wkb)(known.intersects(parsed(wkb)))
  }

  /**
   * The latest geometries of one thread. A geometry that occurs again is prepared, so that many others are compared
   * with it in less time. To prepare a geometry that occurs only once would take more time than it saves.
   */
  final class LatestGeometries {
    private val Size = 4

    // The most recently used geometry is the first.
    private val entries = new Array[LatestGeometry](Size)

    private[Geometries] def of(wkb: Array[Byte]): LatestGeometry = {
      val found = entries.indexWhere(e => e != null && e.isOf(wkb))
      val entry = if (found < 0) new LatestGeometry(wkb) else entries(found)
      System.arraycopy(entries, 0, entries, 1, if (found < 0) Size - 1 else found)
      entries(0) = entry
      entry
    }
  }

  final private class LatestGeometry(wkb: Array[Byte]) {
    private var comparisons = 0
    lazy val box: Option[BoundingBox] = Geometries.box(wkb)
    private lazy val geometry: Geometry = parsed(wkb)
    private lazy val prepared: PreparedGeometry = PreparedGeometryFactory.prepare(geometry)

    def isOf(bytes: Array[Byte]): Boolean = (bytes eq wkb) || Arrays.equals(bytes, wkb)

    def intersects(other: Geometry): Boolean = {
      comparisons += 1
      if (comparisons == 1) geometry.intersects(other) else prepared.intersects(other)
    }
  }
}
