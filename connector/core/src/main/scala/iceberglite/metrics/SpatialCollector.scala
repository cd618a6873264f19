package iceberglite.metrics

import java.nio.ByteBuffer

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.geo.{Extent, PointBound, Wkb}
import iceberglite.spec.types.Literal.FixedLiteral
import iceberglite.spec.types.PrimitiveType
import iceberglite.spec.types.Type.{GeographyType, GeometryType}

/** Checks the values of a column of type geometry or geography, and collects their bounds. */
final class SpatialCollector(t: PrimitiveType) {
  private val extent = new Extent
  private var isComplete = true

  /**
   * Adds a value that is written.
   *
   * @param column the full name of the column, for messages
   * @throws InvalidArgument if the value is not WKB
   */
  def add(wkb: ByteBuffer, column: String): Unit = SpatialCollector.addTo(extent, wkb, column)

  /** Adds a value. @param isChecked whether a value that is not WKB is an error */
  def add(wkb: ByteBuffer, column: String, isChecked: Boolean): Unit =
    if (isChecked) add(wkb, column) else addStored(wkb)

  /** Adds a value that the writer of its file may not have checked. If it is not WKB, the column gets no bounds. */
  def addStored(wkb: ByteBuffer): Unit =
    try Wkb.addTo(extent, wkb)
    catch { case _: InvalidArgument => isComplete = false }

  /**
   * Returns the bounds as points in their binary form. They have the type fixed, because they must not be truncated.
   */
  def values: CollectedValues = {
    val bounds = t match {
      case _ if !isComplete => None
      case _: GeographyType => extent.geographyBounds
      case _ => extent.geometryBounds
    }
    CollectedValues(None, bounds.map { case (low, high) => (literal(low), literal(high)) })
  }

  private def literal(bound: PointBound) = FixedLiteral(bound.encode)
}

object SpatialCollector {

  /** Returns a new collector for a column; absent if its type is neither geometry nor geography. */
  def of(t: PrimitiveType): Option[SpatialCollector] = if (isSpatial(t)) Some(new SpatialCollector(t)) else None

  /** Checks a value that is written. @throws InvalidArgument if it is not WKB */
  def check(wkb: ByteBuffer, column: String): Unit = addTo(new Extent, wkb, column)

  private def addTo(extent: Extent, wkb: ByteBuffer, column: String): Unit =
    try Wkb.addTo(extent, wkb)
    catch {
      case InvalidArgument(_, value, reason) => throw InvalidArgument(s"geometry in column $column", value, reason)
    }

  def isSpatial(t: PrimitiveType): Boolean = t match {
    case _: GeometryType | _: GeographyType => true
    case _ => false
  }
}
