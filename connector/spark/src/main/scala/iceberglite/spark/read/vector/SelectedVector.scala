package iceberglite.spark.read.vector

import org.apache.spark.sql.types.{BooleanType, Decimal, StructType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray, ColumnarMap}
import org.apache.spark.unsafe.types.UTF8String

/**
 * A view of another vector that contains only selected rows. The other vector owns the values.
 *
 * @param rowIndexes the index of each selected row in the other vector; refilled for each batch
 */
final private[read] class SelectedVector(inner: ColumnVector, rowIndexes: Array[Int])
    extends ColumnVector(inner.dataType) {

  /**
   * The views of the fields of a struct, which are needed because a field has one value for each row of the struct.
   * Elements of lists and maps need no view, because each list or map refers to its elements by their offset.
   */
  private val children: Array[SelectedVector] = inner.dataType match {
    case struct: StructType => new Array(struct.size)
    case _ => Array.empty
  }

  override def close(): Unit = ()
  override def closeIfFreeable(): Unit = ()
  override def hasNull: Boolean = inner.hasNull

  /** Counts the nulls of all rows, including rows that are not selected. */
  override def numNulls: Int = inner.numNulls
  override def isNullAt(rowId: Int): Boolean = inner.isNullAt(rowIndexes(rowId))
  override def getBoolean(rowId: Int): Boolean = inner.getBoolean(rowIndexes(rowId))
  override def getByte(rowId: Int): Byte = inner.getByte(rowIndexes(rowId))
  override def getShort(rowId: Int): Short = inner.getShort(rowIndexes(rowId))
  override def getInt(rowId: Int): Int = inner.getInt(rowIndexes(rowId))
  override def getLong(rowId: Int): Long = inner.getLong(rowIndexes(rowId))
  override def getFloat(rowId: Int): Float = inner.getFloat(rowIndexes(rowId))
  override def getDouble(rowId: Int): Double = inner.getDouble(rowIndexes(rowId))
  override def getArray(rowId: Int): ColumnarArray = inner.getArray(rowIndexes(rowId))
  override def getMap(rowId: Int): ColumnarMap = inner.getMap(rowIndexes(rowId))
  override def getDecimal(rowId: Int, precision: Int, scale: Int): Decimal =
    inner.getDecimal(rowIndexes(rowId), precision, scale)
  override def getUTF8String(rowId: Int): UTF8String = inner.getUTF8String(rowIndexes(rowId))
  override def getBinary(rowId: Int): Array[Byte] = inner.getBinary(rowIndexes(rowId))

  /**
   * Returns the view of a struct field. The view is created on demand, because the vector of a struct that is null in
   * all rows has no fields.
   */
  override def getChild(ordinal: Int): ColumnVector =
    if (children.isEmpty) inner.getChild(ordinal)
    else {
      if (children(ordinal) == null) children(ordinal) = new SelectedVector(inner.getChild(ordinal), rowIndexes)
      children(ordinal)
    }
}

/**
 * The column `_deleted` of a scan that marks deleted rows instead of removing them.
 *
 * @param inner a column that is false in all rows
 * @param marks whether each row of the batch is deleted
 */
final private[read] class DeletedMarksVector(inner: ColumnVector, marks: Array[Boolean])
    extends ForwardingVector(inner, BooleanType) {
  override def getBoolean(rowId: Int): Boolean = marks(rowId)
}
