package iceberglite.spark.write.files

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}

import iceberglite.data.RowSource

/** Reads the values of Spark's rows. */
private[write] object SparkRowSource extends RowSource[SpecializedGetters] {
  override type Entries = ArrayData
  override type Pairs = MapData

  override def isNull(values: SpecializedGetters, ordinal: Int): Boolean = values.isNullAt(ordinal)
  override def failNull(name: String): Nothing = RowFaults.nullIn(name)
  override def struct(values: SpecializedGetters, ordinal: Int, size: Int): SpecializedGetters =
    values.getStruct(ordinal, size)
  override def list(values: SpecializedGetters, ordinal: Int): ArrayData = values.getArray(ordinal)
  override def map(values: SpecializedGetters, ordinal: Int): MapData = values.getMap(ordinal)
  override def keys(map: MapData): ArrayData = map.keyArray()
  override def mapped(map: MapData): ArrayData = map.valueArray()
  override def count(entries: ArrayData): Int = entries.numElements()
}
