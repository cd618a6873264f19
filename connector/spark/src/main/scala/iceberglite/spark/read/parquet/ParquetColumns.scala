package iceberglite.spark.read.parquet

import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.{ArrayType, MapType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

import iceberglite.spark.read.vector.{ListView, LongOrDefault, MapView, DerivedRowId, StoredOrDerivedRowId, StructView}

/**
 * Creates the columns of a scan from the columns that a Parquet reader fills. The columns are created once for each
 * file, because the reader reuses its vectors.
 */
private[read] object ParquetColumns {

  /**
   * Returns a batch with the columns of the scan. If no column is converted or added, this is the reader's own batch.
   *
   * @param read the batch of the reader
   * @param columns the sources of the columns of the scan
   * @param positions the positions of the rows in the file, if columns need them
   */
  def of(read: ColumnarBatch, columns: Vector[Source], positions: => ColumnVector): ColumnarBatch = {
    val isUnchanged = columns.size == read.numCols && columns.zipWithIndex.forall {
      case (Source.FromFile(ordinal, ColumnConversion.AsIs), i) => ordinal == i
      case _ => false
    }
    if (isUnchanged) read else new ColumnarBatch(columns.map(column(_, read, positions)).toArray)
  }

  private def column(source: Source, read: ColumnarBatch, positions: => ColumnVector): ColumnVector = source match {
    case Source.FromFile(ordinal, conversion) => view(read.column(ordinal), conversion)
    case Source.Constant(vector) => vector
    case Source.Position => positions
    // The row id is the stored one or, if it is null or not stored, the first row id of the file plus the position.
    case Source.RowId(Some(ordinal), first) => new StoredOrDerivedRowId(read.column(ordinal), positions, first)
    case Source.RowId(None, first) => new DerivedRowId(positions, first)
    case Source.LastUpdated(ordinal, sequenceNumber) => new LongOrDefault(read.column(ordinal), sequenceNumber)
  }

  private def view(read: ColumnVector, conversion: ColumnConversion): ColumnVector = (conversion, read) match {
    case (ColumnConversion.AsIs, _) => read
    case (ColumnConversion.Converted(convert), _) => convert(read)
    case (ColumnConversion.StructOf(children, dataType), _) =>
      new StructView(read, children.map(child(read, _)).toArray, dataType)
    case (ColumnConversion.ListOf(element, dataType: ArrayType), list: WritableColumnVector) =>
      new ListView(list, view(list.getChild(0), element), dataType)
    case (ColumnConversion.MapOf(key, value, dataType: MapType), map: WritableColumnVector) =>
      new MapView(map, view(map.getChild(0), key), view(map.getChild(1), value), dataType)
    case (other, vector) => throw new IllegalStateException(s"$other cannot be read from ${vector.getClass.getName}")
  }

  private def child(struct: ColumnVector, source: Source): ColumnVector = source match {
    case Source.FromFile(ordinal, conversion) => view(struct.getChild(ordinal), conversion)
    case Source.Constant(vector) => vector
    case other => throw new IllegalStateException(s"$other is inside a struct")
  }
}
