package iceberglite.inspect

import java.nio.ByteBuffer

import iceberglite.spec.{Literal, PrimitiveType, SingleValue}
import iceberglite.spec.Type._

/** Bounds as the values that [[MetadataRow]] documents. */
private[inspect] object PlainValue {

  /** The type of a bound of a column, as a metadata table shows it: bytes where it is no value of the column's type. */
  def boundType(t: PrimitiveType): PrimitiveType = t match {
    case UnknownType | VariantType | _: GeometryType | _: GeographyType => BinaryType
    case other => other
  }

  /** A bound as a value of [[boundType]]; one that cannot be read says nothing. */
  def ofBound(t: PrimitiveType, bytes: ByteBuffer): Option[Any] =
    SingleValue.decodeValid(boundType(t), bytes).map(Literal.plain)
}
