package iceberglite.spark.write.files

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, SpecializedGetters}

import iceberglite.spark.convert.VariantText

/**
 * Converts the strings of a column of variants to structs of the two parts that files store. Each writer of a column
 * has its own object, because the row is reused.
 *
 * @param column the full name of the column, for messages
 */
final private[write] class VariantParts(column: String) {
  private val struct = new GenericInternalRow(2)
  private val row = new GenericInternalRow(Array[Any](struct))
  private val nullRow = new GenericInternalRow(Array[Any](null))

  /**
   * Returns a row whose only value is the struct, or null if the string is null.
   *
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the string is not a variant
   */
  def of(values: SpecializedGetters, ordinal: Int): InternalRow = if (values.isNullAt(ordinal)) nullRow
  else {
    val variant = VariantText.parse(values.getUTF8String(ordinal), column)
    struct.update(0, bytes(variant.metadata))
    struct.update(1, bytes(variant.value))
    row
  }

  private def bytes(part: ByteBuffer): Array[Byte] = {
    val array = new Array[Byte](part.remaining)
    part.duplicate().get(array)
    array
  }
}
