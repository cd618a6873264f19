package iceberglite.spark.write.orc

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import iceberglite.data.{NewStream, WrittenFile}
import iceberglite.spec.file.FileFormat
import iceberglite.data.orc.OrcOutput
import iceberglite.metrics.MetricsModes
import iceberglite.spark.write.files.{DataFileWriter, InputField}
import iceberglite.spark.write.metrics.FileTallies
import iceberglite.spec.schema.Schema

/** An ORC data file that a task writes. Rows are put into the column vectors of the ORC library. */
final private[orc] class OrcDataFile(
    path: String,
    stream: NewStream,
    file: OrcOutput,
    input: Vector[InputField],
    schema: Schema,
    modes: MetricsModes
) extends DataFileWriter {
  private val tallies = new FileTallies(modes)
  private val columns = new OrcRowWriter(tallies).of(input, file.batch.cols)
  private var records = 0L

  override def write(row: InternalRow): Unit = {
    columns.put(row, file.beginRow())
    file.endRow(sizeOf(row))
    records += 1
  }

  private def sizeOf(row: InternalRow): Int = row match {
    case unsafe: UnsafeRow => unsafe.getSizeInBytes
    case _ => 0
  }

  override def length: Long = file.length

  override def buffered: Long = file.buffered

  override def flush(): Unit = file.flush()

  override def finish(): WrittenFile = {
    val finished = file.finish()
    val metrics = tallies.metrics(records, Some(file.columnSizes(schema, modes)))
    stream.complete(WrittenFile(path, FileFormat.Orc, records, finished.length, metrics, finished.stripes))
  }

  override def abandon(): Unit = file.abandon()
}
