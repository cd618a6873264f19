package iceberglite.spark.read.parquet

import org.apache.spark.sql.execution.datasources.parquet.VectorizedParquetRecordReader
import org.apache.spark.sql.vectorized.ColumnarBatch

/** Decodes the requested columns of a part of a file. A batch never spans two row groups. */
private[parquet] trait ColumnDecoder extends AutoCloseable {

  /** The columns of [[FileProjection.readSchema]], in reused vectors. */
  def columns: ColumnarBatch

  /** Advances to the next rows. */
  def next(): Boolean
}

/** Decodes with Spark's vectorized reader. */
final private[parquet] class VectorDecoder(reader: VectorizedParquetRecordReader) extends ColumnDecoder {
  override val columns: ColumnarBatch = reader.resultBatch()
  override def next(): Boolean = reader.nextBatch()
  override def close(): Unit = reader.close()
}
