package iceberglite.spark.read.vector

import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.{ArrayType, MapType, StructType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray, ColumnarMap}

/**
 * A column of structs whose children differ from the children in the file, because some children are constant,
 * converted or omitted.
 */
final private[read] class StructView(inner: ColumnVector, children: Array[ColumnVector], dataType: StructType)
    extends ForwardingVector(inner, dataType) {
  override def getChild(ordinal: Int): ColumnVector = children(ordinal)
}

/** A column of lists with converted elements. The offsets and lengths of the lists are unchanged. */
final private[read] class ListView(inner: WritableColumnVector, element: ColumnVector, dataType: ArrayType)
    extends ForwardingVector(inner, dataType) {
  override def getArray(rowId: Int): ColumnarArray =
    if (inner.isNullAt(rowId)) null
    else new ColumnarArray(element, inner.getArrayOffset(rowId), inner.getArrayLength(rowId))
  override def getChild(ordinal: Int): ColumnVector = element
}

/** A column of maps with converted keys or values. */
final private[read] class MapView(
    inner: WritableColumnVector,
    keys: ColumnVector,
    values: ColumnVector,
    dataType: MapType
) extends ForwardingVector(inner, dataType) {
  override def getMap(rowId: Int): ColumnarMap =
    if (inner.isNullAt(rowId)) null
    else new ColumnarMap(keys, values, inner.getArrayOffset(rowId), inner.getArrayLength(rowId))
  override def getChild(ordinal: Int): ColumnVector = if (ordinal == 0) keys else values
}
