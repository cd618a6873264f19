package iceberglite.spark.write.parquet

import org.apache.parquet.io.OutputFile
import org.apache.spark.sql.catalyst.InternalRow

import iceberglite.data.parquet.{ParquetOutput, ParquetShape}
import iceberglite.metrics.MetricsModes
import iceberglite.parquet.ParquetMetrics
import iceberglite.spark.write.files.{DataFileWriter, FinishedFile}
import iceberglite.spec.schema.Schema

/** A Parquet file of a task: shreds the rows into the columns of the file. */
final private[parquet] class ParquetDataFile(
    output: OutputFile,
    rows: RowShredder,
    shape: ParquetShape,
    schema: Schema,
    modes: MetricsModes
) extends DataFileWriter {
  private val file = new ParquetOutput(output, shape, rows.attach)

  override def write(row: InternalRow): Unit = {
    rows.write(row)
    file.endRow()
  }

  override def length: Long = file.length

  override def buffered: Long = file.buffered

  override def flush(): Unit = file.flush()

  override def finish(): FinishedFile = {
    val finished = file.finish()
    val metrics = ParquetMetrics.of(finished.footer, schema, modes, rows.floating)
    FinishedFile(metrics.recordCount, finished.length, metrics.metrics, metrics.splitOffsets)
  }

  override def abandon(): Unit = file.abandon()
}
