package iceberglite.spark.write.parquet

import org.apache.parquet.io.OutputFile
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

import iceberglite.data.WrittenFile
import iceberglite.encryption.FileKey
import iceberglite.spec.file.FileFormat
import iceberglite.data.parquet.{FinishedParquet, ParquetFileSettings, ParquetOutput}
import iceberglite.data.parquet.shred.{Shredder, VariantMetrics}
import iceberglite.metrics.{CollectedValues, MetricsModes}
import iceberglite.spark.write.files.{DataFileWriter}
import iceberglite.spec.schema.Schema

/** A Parquet data file that a task writes. Rows are shredded into the columns of the file. */
final private[parquet] class ParquetDataFile(
    path: String,
    output: OutputFile,
    rows: Shredder[SpecializedGetters],
    fileSettings: ParquetFileSettings,
    schema: Schema,
    modes: MetricsModes,
    key: Option[FileKey]
) extends DataFileWriter {
  private val file = new ParquetOutput(output, fileSettings, rows.attach, key)

  override def write(row: InternalRow): Unit = {
    rows.write(row)
    file.endRow()
  }

  override def length: Long = file.length

  override def buffered: Long = file.buffered

  override def flush(): Unit = file.flush()

  override def finish(): WrittenFile = ParquetDataFile.written(path, file.finish(), schema, modes, rows.collected)
    .copy(keyMetadata = key.map(_.encode))

  override def abandon(): Unit = file.abandon()
}

private[parquet] object ParquetDataFile {

  /**
   * Returns the metadata of a complete file.
   *
   * @param collected the metrics that are not in the footer, by field id
   */
  def written(
      path: String,
      finished: FinishedParquet,
      schema: Schema,
      modes: MetricsModes,
      collected: Map[Int, CollectedValues]
  ): WrittenFile = {
    val metrics = VariantMetrics.of(finished.footer, schema, modes, collected)
    WrittenFile(path, FileFormat.Parquet, metrics.recordCount, finished.length, metrics.metrics, metrics.splitOffsets)
  }
}
