package iceberglite.spark.read.vector

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types.{ArrayType, DataType, Decimal, MapType, StructType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray, ColumnarMap}
import org.apache.spark.unsafe.types.UTF8String

/**
 * A column whose values are in an array in memory, such as the elements of a constant list.
 *
 * @param values the values in Spark's internal format
 */
final private[vector] class ValuesVector(values: Array[Any], dataType: DataType) extends ColumnVector(dataType) {
  override def close(): Unit = ()
  override def hasNull: Boolean = values.contains(null)
  override def numNulls: Int = values.count(_ == null)
  override def isNullAt(rowId: Int): Boolean = values(rowId) == null
  override def getBoolean(rowId: Int): Boolean = values(rowId).asInstanceOf[Boolean]
  override def getByte(rowId: Int): Byte = values(rowId).asInstanceOf[Byte]
  override def getShort(rowId: Int): Short = values(rowId).asInstanceOf[Short]
  override def getInt(rowId: Int): Int = values(rowId).asInstanceOf[Int]
  override def getLong(rowId: Int): Long = values(rowId).asInstanceOf[Long]
  override def getFloat(rowId: Int): Float = values(rowId).asInstanceOf[Float]
  override def getDouble(rowId: Int): Double = values(rowId).asInstanceOf[Double]
  override def getDecimal(rowId: Int, precision: Int, scale: Int): Decimal = values(rowId).asInstanceOf[Decimal]
  override def getUTF8String(rowId: Int): UTF8String = values(rowId).asInstanceOf[UTF8String]
  override def getBinary(rowId: Int): Array[Byte] = values(rowId).asInstanceOf[Array[Byte]]

  override def getArray(rowId: Int): ColumnarArray = values(rowId) match {
    case null => null
    case array => ValuesVector.array(array.asInstanceOf[ArrayData], dataType.asInstanceOf[ArrayType])
  }

  override def getMap(rowId: Int): ColumnarMap = values(rowId) match {
    case null => null
    case map => ValuesVector.map(map.asInstanceOf[MapData], dataType.asInstanceOf[MapType])
  }

  /** Returns the values of a field of a struct. */
  override def getChild(ordinal: Int): ColumnVector = {
    val field = dataType.asInstanceOf[StructType](ordinal)
    val children: Array[Any] = values.map {
      case null => null
      case row => row.asInstanceOf[InternalRow].get(ordinal, field.dataType)
    }
    new ValuesVector(children, field.dataType)
  }
}

private[vector] object ValuesVector {
  def array(array: ArrayData, t: ArrayType): ColumnarArray =
    new ColumnarArray(elements(array, t.elementType), 0, array.numElements())

  def map(map: MapData, t: MapType): ColumnarMap = new ColumnarMap(
    elements(map.keyArray(), t.keyType),
    elements(map.valueArray(), t.valueType),
    0,
    map.numElements()
  )

  private def elements(array: ArrayData, t: DataType): ColumnVector =
    new ValuesVector(array.toObjectArray(t).asInstanceOf[Array[Any]], t)
}
