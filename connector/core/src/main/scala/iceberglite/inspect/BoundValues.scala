package iceberglite.inspect

import java.nio.ByteBuffer

import iceberglite.spec.types.{Literal, PrimitiveType, SingleValue}
import iceberglite.spec.types.Type._

/**
 * Decodes lower and upper bounds of columns to values of metadata tables. [[MetadataRow]] lists the classes of these
 * values.
 */
private[inspect] object BoundValues {

  /**
   * Returns the type of a column's bounds in a metadata table. If the bounds are not values of the column's type, for
   * example for geometry columns, they are shown as binary.
   */
  def boundType(t: PrimitiveType): PrimitiveType = t match {
    case UnknownType | VariantType | _: GeometryType | _: GeographyType => BinaryType
    case other => other
  }

  /** Returns a bound as a value of [[boundType]]; absent if it cannot be decoded. */
  def ofBound(t: PrimitiveType, bytes: ByteBuffer): Option[Any] =
    SingleValue.decodeValid(boundType(t), bytes).map(Literal.javaValue)
}
