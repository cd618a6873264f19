package iceberglite.spark.read.vector

import org.apache.spark.sql.types.{DataType, Decimal}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray, ColumnarMap}
import org.apache.spark.unsafe.types.UTF8String

/**
 * A vector with values of one type. A subclass overrides the access methods for its type; Spark calls no other access
 * methods.
 */
abstract private[read] class TypedVector(dataType: DataType) extends ColumnVector(dataType) {
  override def close(): Unit = ()
  override def closeIfFreeable(): Unit = ()
  override def getBoolean(rowId: Int): Boolean = reject()
  override def getByte(rowId: Int): Byte = reject()
  override def getShort(rowId: Int): Short = reject()
  override def getInt(rowId: Int): Int = reject()
  override def getLong(rowId: Int): Long = reject()
  override def getFloat(rowId: Int): Float = reject()
  override def getDouble(rowId: Int): Double = reject()
  override def getArray(rowId: Int): ColumnarArray = reject()
  override def getMap(rowId: Int): ColumnarMap = reject()
  override def getDecimal(rowId: Int, precision: Int, scale: Int): Decimal = reject()
  override def getUTF8String(rowId: Int): UTF8String = reject()
  override def getBinary(rowId: Int): Array[Byte] = reject()
  override def getChild(ordinal: Int): ColumnVector = reject()

  private def reject(): Nothing =
    throw new UnsupportedOperationException(s"This method does not apply to a column of type ${dataType.simpleString}")
}
