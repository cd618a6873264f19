package iceberglite.spark.read.vector

import org.apache.spark.sql.types.LongType

/** The `_pos` values of a batch of consecutive rows of one data file. */
final private[read] class PositionsVector extends TypedVector(LongType) {

  /** The position of the batch's first row. */
  var first: Long = 0L

  override def hasNull: Boolean = false
  override def numNulls: Int = 0
  override def isNullAt(rowId: Int): Boolean = false
  override def getLong(rowId: Int): Long = first + rowId
}
