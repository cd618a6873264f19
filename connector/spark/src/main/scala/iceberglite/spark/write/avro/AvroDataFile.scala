package iceberglite.spark.write.avro

import org.apache.spark.sql.catalyst.InternalRow

import iceberglite.data.{NewStream, WrittenFile}
import iceberglite.spec.file.FileFormat
import iceberglite.avro.AvroOutput
import iceberglite.data.avro.AvroRowsOutput
import iceberglite.metrics.MetricsModes
import iceberglite.spark.write.files.{DataFileWriter, InputField}
import iceberglite.spark.write.metrics.FileTallies

/** An Avro data file that a task writes. Rows are encoded one after the other. */
final private[avro] class AvroDataFile(
    path: String,
    stream: NewStream,
    file: AvroRowsOutput,
    input: Vector[InputField],
    modes: MetricsModes
) extends DataFileWriter {
  private val tallies = new FileTallies(modes)
  private val fields = new AvroFieldWriters(tallies).of(input)
  private var records = 0L
  private var current: InternalRow = _

  /** Encodes the current row. The function object is reused, to avoid an allocation for each row. */
  private val encode: AvroOutput => Unit = out => fields.put(current, out)

  override def write(row: InternalRow): Unit = {
    current = row
    file.add(encode)
    records += 1
  }

  override def length: Long = file.length

  override def buffered: Long = file.buffered

  /** Does nothing, because blocks are small: writing a block early would free little memory. */
  override def flush(): Unit = ()

  /**
   * Completes the file. The result has no column sizes, because Avro stores rows, not columns. The result has no split
   * offsets, because Avro blocks are too small to be used as splits.
   */
  override def finish(): WrittenFile = stream.complete(
    WrittenFile(
      path,
      FileFormat.Avro,
      records,
      file.finish(),
      tallies.metrics(records, sizes = None),
      splitOffsets = Vector.empty
    )
  )

  override def abandon(): Unit = file.abandon()
}
