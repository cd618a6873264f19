package iceberglite.spark.read.vector

import org.apache.spark.sql.types.{DataType, Decimal}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray, ColumnarMap}
import org.apache.spark.unsafe.types.UTF8String

/** A vector with one type of values: Spark does not request other types for a column. */
abstract private[read] class TypedVector(dataType: DataType) extends ColumnVector(dataType) {
  override def close(): Unit = ()
  override def closeIfFreeable(): Unit = ()
  override def getBoolean(rowId: Int): Boolean = refuse()
  override def getByte(rowId: Int): Byte = refuse()
  override def getShort(rowId: Int): Short = refuse()
  override def getInt(rowId: Int): Int = refuse()
  override def getLong(rowId: Int): Long = refuse()
  override def getFloat(rowId: Int): Float = refuse()
  override def getDouble(rowId: Int): Double = refuse()
  override def getArray(rowId: Int): ColumnarArray = refuse()
  override def getMap(rowId: Int): ColumnarMap = refuse()
  override def getDecimal(rowId: Int, precision: Int, scale: Int): Decimal = refuse()
  override def getUTF8String(rowId: Int): UTF8String = refuse()
  override def getBinary(rowId: Int): Array[Byte] = refuse()
  override def getChild(ordinal: Int): ColumnVector = refuse()

  private def refuse(): Nothing =
    throw new UnsupportedOperationException(s"A column of type ${dataType.simpleString} has no such values")
}
