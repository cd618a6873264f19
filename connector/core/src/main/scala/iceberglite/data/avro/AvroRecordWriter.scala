package iceberglite.data.avro

import iceberglite.avro.{AvroCodec, AvroOutput}
import iceberglite.data._
import iceberglite.spec.file.FileFormat
import iceberglite.spec.json.SchemaJson

/** Writes the rows of one new file. */
final private[avro] class AvroRecordWriter private (
    target: DataTarget,
    fields: AvroRowFields[Array[AnyRef]],
    stream: NewStream,
    file: AvroRowsOutput
) extends RecordWriter {
  private val metrics = new RecordMetrics(target.schema, target.modes)
  private var current: Record = _
  private val encode: AvroOutput => Unit = out => fields.put(current.values, out)

  override def write(record: Record): Unit = {
    current = record
    file.add(encode)
    metrics.add(record)
  }

  override def length: Long = file.length

  override def close(): WrittenFile = stream.complete(WrittenFile(
    target.path,
    FileFormat.Avro,
    metrics.recordCount,
    file.finish(),
    // Avro stores rows contiguously, so there are no column sizes (spec: `data_file`, `column_sizes`).
    metrics.metrics(sizes = None),
    splitOffsets = Vector.empty
  ))

  override def abort(): Unit = {
    file.abandon()
    target.io.delete(target.path)
  }
}

private[avro] object AvroRecordWriter {
  def open(target: DataTarget): AvroRecordWriter = {
    val struct = target.schema.asStruct
    val fields = AvroSinks.ofFields(struct.fields)
    val keyValues = Map(AvroFileSettings.SchemaKey -> SchemaJson.toJson(target.schema)) ++ target.keyValues
    val settings = AvroFileSettings.of(struct, AvroCodec.forDataFiles(target.properties), keyValues)
    val stream = new NewStream(target.io, target.path)
    new AvroRecordWriter(target, fields, stream, new AvroRowsOutput(stream.io, target.path, settings))
  }
}
