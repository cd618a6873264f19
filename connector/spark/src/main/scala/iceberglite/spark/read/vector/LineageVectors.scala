package iceberglite.spark.read.vector

import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.vectorized.ColumnVector

/**
 * `_row_id` from a file that stores this column. If the stored id of a row is null, the id is computed from the row's
 * position (spec, version 3: "Row Lineage").
 */
final private[read] class StoredOrDerivedRowId(inner: ColumnVector, positions: ColumnVector, firstRowId: Long)
    extends ForwardingVector(inner, LongType) {
  override def hasNull: Boolean = false
  override def numNulls: Int = 0
  override def isNullAt(rowId: Int): Boolean = false
  override def getLong(rowId: Int): Long =
    if (inner.isNullAt(rowId)) firstRowId + positions.getLong(rowId) else inner.getLong(rowId)
}

/** `_row_id` for a file that does not store this column. The id of each row is computed from the row's position. */
final private[read] class DerivedRowId(positions: ColumnVector, firstRowId: Long)
    extends ForwardingVector(positions, LongType) {
  override def getLong(rowId: Int): Long = firstRowId + positions.getLong(rowId)
}

/** A column of longs that returns a default value for each null. */
final private[read] class LongOrDefault(inner: ColumnVector, default: Long) extends ForwardingVector(inner, LongType) {
  override def hasNull: Boolean = false
  override def numNulls: Int = 0
  override def isNullAt(rowId: Int): Boolean = false
  override def getLong(rowId: Int): Long = if (inner.isNullAt(rowId)) default else inner.getLong(rowId)
}
