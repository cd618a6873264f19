package iceberglite.data

import iceberglite.spec.types.NestedField

/**
 * A field of the rows to be written, with the position of its values.
 *
 * @tparam F the class that implements this trait
 */
private[iceberglite] trait RowField[F <: RowField[F]] {

  /** The field in the schema of the file. */
  def field: NestedField

  /** Whether the file contains the field. */
  def isStored: Boolean

  /** The index of the value in a row or in the enclosing struct. It is not used for the parts of lists and maps. */
  def ordinal: Int

  /** The number of fields of a struct in the rows, including fields that are not written. */
  def size: Int

  /** The fields of a struct, the element of a list, or the key and value of a map. */
  def parts: Vector[F]
}
