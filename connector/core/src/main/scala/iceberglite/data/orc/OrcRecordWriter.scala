package iceberglite.data.orc

import org.apache.orc.TypeDescription.RowBatchVersion

import iceberglite.data._
import iceberglite.spec.file.FileFormat

/** Writes the rows of one new file in batches. */
final private[orc] class OrcRecordWriter private (target: DataTarget, stream: NewStream, file: OrcOutput)
    extends RecordWriter {
  private val fields = OrcSinks.of(target.schema, file.batch.cols)
  private val metrics = new RecordMetrics(target.schema, target.modes)

  override def write(record: Record): Unit = {
    fields.put(record.values, file.beginRow())
    metrics.add(record)
    file.endRow(OrcOutput.UnknownSize)
  }

  override def length: Long = file.length

  override def close(): WrittenFile = {
    val finished = file.finish()
    stream.complete(WrittenFile(
      target.path,
      FileFormat.Orc,
      metrics.recordCount,
      finished.length,
      metrics.metrics(Some(file.columnSizes(target.schema, target.modes))),
      finished.stripes
    ))
  }

  override def abort(): Unit = {
    file.abandon()
    target.io.delete(target.path)
  }
}

private[orc] object OrcRecordWriter {
  def open(target: DataTarget): OrcRecordWriter = {
    val settings = OrcSettings.of(target.properties)
    val fileSettings =
      new OrcFileSettings(OrcSchemas.of(target.schema), settings, target.keyValues, RowBatchVersion.ORIGINAL)
    val stream = new NewStream(target.io, target.path)
    new OrcRecordWriter(target, stream, OrcOutput.open(stream.io, target.path, fileSettings))
  }
}
