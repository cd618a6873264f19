package iceberglite.spark.read.vector

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.execution.vectorized.ConstantColumnVector
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.ColumnVector
import org.apache.spark.unsafe.types.UTF8String

/** Creates columns that have one value in all rows. */
private[read] object ConstantVectors {

  /**
   * Returns a constant column.
   *
   * @param value the value in Spark's internal format; absent for null
   * @param capacity maximum number of rows in a batch; [[ColumnVector.numNulls]] returns this number for a null
   */
  def of(dataType: DataType, value: Option[Any], capacity: Int): ConstantColumnVector = value match {
    case None => new NullVector(dataType, capacity)
    case Some(v) =>
      val vector = new ConstantColumnVector(capacity, dataType)
      vector.setNotNull()
      set(vector, dataType, v, capacity)
      vector
  }

  /**
   * A column of nulls. This class exists because Spark's own constant vector fails for a null decimal of large
   * precision.
   */
  final private class NullVector(dataType: DataType, capacity: Int) extends ConstantColumnVector(capacity, dataType) {
    setNull()
    override def getDecimal(rowId: Int, precision: Int, scale: Int): Decimal = null
  }

  /** Returns a struct column whose fields have the same values in all rows. */
  def struct(dataType: StructType, values: Seq[Option[Any]], capacity: Int): ColumnVector = {
    val vector = new ConstantColumnVector(capacity, dataType)
    vector.setNotNull()
    dataType.fields.zip(values).zipWithIndex.foreach { case ((field, value), i) =>
      vector.setChild(i, of(field.dataType, value, capacity))
    }
    vector
  }

  private def set(
      vector: ConstantColumnVector,
      dataType: DataType,
      value: Any,
      capacity: Int
  ): Unit = (dataType, value) match {
    case (_, v: Boolean) => vector.setBoolean(v)
    case (_, v: Int) => vector.setInt(v)
    case (_, v: Long) => vector.setLong(v)
    case (_, v: Float) => vector.setFloat(v)
    case (_, v: Double) => vector.setDouble(v)
    case (t: DecimalType, v: Decimal) => vector.setDecimal(v, t.precision)
    case (_, v: UTF8String) => vector.setUtf8String(v)
    case (_, v: Array[Byte]) => vector.setBinary(v)
    case (t: ArrayType, v: ArrayData) => vector.setArray(ValuesVector.array(v, t))
    case (t: MapType, v: MapData) => vector.setMap(ValuesVector.map(v, t))
    case (t: StructType, v: InternalRow) =>
      t.fields.zipWithIndex.foreach { case (field, i) =>
        vector.setChild(i, of(field.dataType, Option(v.get(i, field.dataType)), capacity))
      }
    case (t, v) =>
      throw new IllegalArgumentException(s"$v is not a value of a constant column of type ${t.simpleString}")
  }
}
