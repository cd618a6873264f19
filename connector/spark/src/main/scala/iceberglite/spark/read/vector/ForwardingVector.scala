package iceberglite.spark.read.vector

import org.apache.spark.sql.types.{DataType, Decimal}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray, ColumnarMap}
import org.apache.spark.unsafe.types.UTF8String

/**
 * A view of another vector that converts some values. The reader of the file owns the inner vector and reuses it for
 * each batch. Therefore, this view caches no values and frees no memory.
 */
abstract private[vector] class ForwardingVector(inner: ColumnVector, dataType: DataType)
    extends ColumnVector(dataType) {
  override def close(): Unit = ()
  override def closeIfFreeable(): Unit = ()
  override def hasNull: Boolean = inner.hasNull
  override def numNulls: Int = inner.numNulls
  override def isNullAt(rowId: Int): Boolean = inner.isNullAt(rowId)
  override def getBoolean(rowId: Int): Boolean = inner.getBoolean(rowId)
  override def getByte(rowId: Int): Byte = inner.getByte(rowId)
  override def getShort(rowId: Int): Short = inner.getShort(rowId)
  override def getInt(rowId: Int): Int = inner.getInt(rowId)
  override def getLong(rowId: Int): Long = inner.getLong(rowId)
  override def getFloat(rowId: Int): Float = inner.getFloat(rowId)
  override def getDouble(rowId: Int): Double = inner.getDouble(rowId)
  override def getArray(rowId: Int): ColumnarArray = inner.getArray(rowId)
  override def getMap(rowId: Int): ColumnarMap = inner.getMap(rowId)
  override def getDecimal(rowId: Int, precision: Int, scale: Int): Decimal = inner.getDecimal(rowId, precision, scale)
  override def getUTF8String(rowId: Int): UTF8String = inner.getUTF8String(rowId)
  override def getBinary(rowId: Int): Array[Byte] = inner.getBinary(rowId)
  override def getChild(ordinal: Int): ColumnVector = inner.getChild(ordinal)
}
