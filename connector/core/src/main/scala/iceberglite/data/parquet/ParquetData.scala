package iceberglite.data.parquet

import scala.util.Try

import iceberglite.data._
import iceberglite.data.parquet.shred.VariantMetrics
import iceberglite.metrics.MetricsModes
import iceberglite.parquet.ParquetSchemas
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.file.FileFormat
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Type.StructType
import iceberglite.storage.DataOutput

/** The Parquet file format (spec: "Appendix A: Parquet"). */
object ParquetData extends DataFormat {
  override def format: FileFormat = FileFormat.Parquet

  override def boundsAreExact: Boolean = true

  override def read(source: DataSource, expected: StructType): RecordIterator =
    new ParquetRecords(source, expected, StreamedParquet.open(source))

  /**
   * False, because the top-level columns of a file without field ids are found by a name mapping or by their positions.
   */
  override def isReadByNames(source: DataSource): Boolean = false

  override def inspect(source: DataSource, schema: Schema, modes: MetricsModes): WrittenFile =
    ParquetInspection.inspect(source, schema, modes)

  override def write(target: DataTarget): RecordWriter = new Writer(target)

  final private class Writer(target: DataTarget) extends RecordWriter {
    if (ParquetSchemas.of(target.schema).getFieldCount == 0) throw Unsupported(
      s"writing the Parquet file ${target.path} without columns",
      "Add a column of a type other than unknown to the table"
    )
    private val settings = ParquetSettings.of(target.properties)
    private val codecs = settings.codecs
    private val fileSettings = ParquetFileSettings.of(target.schema, settings, codecs, target.keyValues)
    private val rows = RecordShredder.of(target.schema, fileSettings.messageType)
    private val key = target.io.newFileKey()
    private val file = new ParquetOutput(DataOutput.of(target.io, target.path), fileSettings, rows.attach, key)

    override def write(record: Record): Unit = {
      rows.write(record.values)
      FileFaults.wrapWriteErrors(target.path)(file.endRow())
    }

    override def length: Long = file.length

    override def close(): WrittenFile =
      try {
        val finished = FileFaults.wrapWriteErrors(target.path)(file.finish())
        val metrics = VariantMetrics.of(finished.footer, target.schema, target.modes, rows.collected)
        WrittenFile(
          target.path,
          format,
          metrics.recordCount,
          finished.length,
          metrics.metrics,
          metrics.splitOffsets,
          key.map(_.encode)
        )
      } finally codecs.release()

    override def abort(): Unit = {
      Try(file.abandon())
      codecs.release()
      target.io.delete(target.path)
    }
  }
}
