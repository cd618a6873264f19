package iceberglite.spark.read.parquet

import org.apache.spark.sql.execution.datasources.parquet.VectorizedParquetRecordReader
import org.apache.spark.sql.vectorized.ColumnarBatch

/** Decodes the requested columns of a split of a file. A batch never spans two row groups. */
private[parquet] trait ColumnDecoder extends AutoCloseable {

  /** The columns of [[FileProjection.readSchema]]. Their vectors are reused for each batch. */
  def columns: ColumnarBatch

  /** Decodes the next batch of rows. @return false after the last batch */
  def next(): Boolean
}

/** Decodes with Spark's vectorized reader. */
final private[parquet] class VectorDecoder(reader: VectorizedParquetRecordReader) extends ColumnDecoder {
  override val columns: ColumnarBatch = reader.resultBatch()
  override def next(): Boolean = reader.nextBatch()
  override def close(): Unit = reader.close()
}
