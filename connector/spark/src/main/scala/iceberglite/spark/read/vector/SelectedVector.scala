package iceberglite.spark.read.vector

import org.apache.spark.sql.types.{BooleanType, Decimal, StructType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray, ColumnarMap}
import org.apache.spark.unsafe.types.UTF8String

/**
 * The rows of another vector that are not deleted. The other vector owns the values.
 *
 * @param rows the index of each row in the other vector; refilled for each batch
 */
final private[read] class SelectedVector(inner: ColumnVector, rows: Array[Int]) extends ColumnVector(inner.dataType) {

  /** Fields of a struct are looked up by the row of the struct; elements of lists and maps are not. */
  private val children: Array[SelectedVector] = inner.dataType match {
    case struct: StructType => new Array(struct.size)
    case _ => Array.empty
  }

  override def close(): Unit = ()
  override def closeIfFreeable(): Unit = ()
  override def hasNull: Boolean = inner.hasNull

  /** Counts the nulls of all rows, including those that are not selected. */
  override def numNulls: Int = inner.numNulls
  override def isNullAt(rowId: Int): Boolean = inner.isNullAt(rows(rowId))
  override def getBoolean(rowId: Int): Boolean = inner.getBoolean(rows(rowId))
  override def getByte(rowId: Int): Byte = inner.getByte(rows(rowId))
  override def getShort(rowId: Int): Short = inner.getShort(rows(rowId))
  override def getInt(rowId: Int): Int = inner.getInt(rows(rowId))
  override def getLong(rowId: Int): Long = inner.getLong(rows(rowId))
  override def getFloat(rowId: Int): Float = inner.getFloat(rows(rowId))
  override def getDouble(rowId: Int): Double = inner.getDouble(rows(rowId))
  override def getArray(rowId: Int): ColumnarArray = inner.getArray(rows(rowId))
  override def getMap(rowId: Int): ColumnarMap = inner.getMap(rows(rowId))
  override def getDecimal(rowId: Int, precision: Int, scale: Int): Decimal =
    inner.getDecimal(rows(rowId), precision, scale)
  override def getUTF8String(rowId: Int): UTF8String = inner.getUTF8String(rows(rowId))
  override def getBinary(rowId: Int): Array[Byte] = inner.getBinary(rows(rowId))

  /** Returns a field. It is created on demand, because a struct that is null in all rows has no fields. */
  override def getChild(ordinal: Int): ColumnVector =
    if (children.isEmpty) inner.getChild(ordinal)
    else {
      if (children(ordinal) == null) children(ordinal) = new SelectedVector(inner.getChild(ordinal), rows)
      children(ordinal)
    }
}

/** The column `_deleted` of a scan that marks deleted rows and does not remove them. `inner` is false in all rows. */
final private[read] class DeletedMarksVector(inner: ColumnVector, marks: Array[Boolean])
    extends ForwardingVector(inner, BooleanType) {
  override def getBoolean(rowId: Int): Boolean = marks(rowId)
}
