package iceberglite.spark.read.orc

import java.nio.ByteBuffer

import org.apache.hadoop.hive.ql.exec.vector.{ColumnVector => HiveVector, _}
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray, ColumnarMap}
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.data.Variant
import iceberglite.spark.convert.VariantForm
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * A vector of structs. If a struct is null, the ORC library also sets the fields of the struct to null. The library
 * marks a vector of structs as repeating only if the structs are null. Therefore, fields are read at the index of the
 * row.
 */
final private[orc] class OrcStructs(inner: StructColumnVector, children: Array[ColumnVector], dataType: DataType)
    extends OrcVector(inner, dataType) {
  override def getChild(ordinal: Int): ColumnVector = children(ordinal)
}

/**
 * A vector of lists or maps. A list is a range of the vector of elements. A map is a range of the vector of keys, and
 * the same range of the vector of values.
 */
abstract private[orc] class OrcSequences(
    inner: MultiValuedColumnVector,
    dataType: DataType,
    invalidValue: String => Throwable
) extends OrcVector(inner, dataType) {

  /**
   * Returns the index of the first element of a list, or of the first entry of a map. Checks that the vector of
   * elements or keys contains the whole range.
   */
  final protected def startOf(index: Int, elements: HiveVector): Int = {
    val (start, length) = (inner.offsets(index), inner.lengths(index))
    if (start < 0 || length < 0 || start > elements.isNull.length - length) {
      throw invalidValue("The file is damaged: a list or map extends beyond the available values")
    }
    start.toInt
  }

  final protected def lengthOf(index: Int): Int = inner.lengths(index).toInt
}

final private[orc] class OrcLists(
    inner: ListColumnVector,
    element: ColumnVector,
    dataType: DataType,
    invalidValue: String => Throwable
) extends OrcSequences(inner, dataType, invalidValue) {
  override def getArray(rowId: Int): ColumnarArray =
    if (isNullAt(rowId)) null
    else {
      val i = index(rowId)
      new ColumnarArray(element, startOf(i, inner.child), lengthOf(i))
    }
  override def getChild(ordinal: Int): ColumnVector = element
}

final private[orc] class OrcMaps(
    inner: MapColumnVector,
    keys: ColumnVector,
    values: ColumnVector,
    dataType: DataType,
    invalidValue: String => Throwable
) extends OrcSequences(inner, dataType, invalidValue) {
  override def getMap(rowId: Int): ColumnarMap =
    if (isNullAt(rowId)) null
    else {
      val i = index(rowId)
      new ColumnarMap(keys, values, startOf(i, inner.keys), lengthOf(i))
    }
  override def getChild(ordinal: Int): ColumnVector = if (ordinal == 0) keys else values
}

/** Variants, which are returned as strings; a variant without metadata or value is null. */
final private[orc] class OrcVariants(
    inner: StructColumnVector,
    metadata: ColumnVector,
    value: ColumnVector,
    form: VariantForm,
    invalidValue: String => Throwable
) extends OrcVector(inner, StringType) {
  override def isNullAt(rowId: Int): Boolean =
    super.isNullAt(rowId) || metadata.isNullAt(rowId) || value.isNullAt(rowId)
  override def hasNull: Boolean = super.hasNull || metadata.hasNull || value.hasNull

  override def getUTF8String(rowId: Int): UTF8String =
    if (isNullAt(rowId)) null
    else {
      try form.of(Variant(bytes(metadata, rowId), bytes(value, rowId)))
      catch { case InvalidArgument(_, _, reason) => throw invalidValue(s"A value is not a variant: $reason") }
    }

  private def bytes(part: ColumnVector, row: Int): ByteBuffer = ByteBuffer.wrap(part.getBinary(row))
}
