package iceberglite.data.avro

import scala.util.control.NonFatal

import org.apache.parquet.io.PositionOutputStream

import iceberglite.data._
import iceberglite.io.{AvroCodec, AvroContainerWriter, AvroOutput, AvroSchemas, DataOutput}
import iceberglite.spec.FileFormat
import iceberglite.spec.json.SchemaJson

/** Rows of one new file, block by block. */
final private[avro] class AvroRecordWriter private (
    target: DataTarget,
    fields: AvroSinks.Fields,
    container: AvroContainerWriter,
    stream: PositionOutputStream
) extends RecordWriter {
  private val metrics = new RecordMetrics(target.schema, target.modes)
  private var current: Record = _
  private val encode: AvroOutput => Unit = out => fields.put(current, out)

  override def write(record: Record): Unit = {
    current = record
    container.add(encode)
    metrics.add(record)
    if (container.finishedBytes > 0) FileFaults.writing(target.path)(container.drainTo(stream))
  }

  override def length: Long = stream.getPos + container.size

  override def close(): WrittenFile = FileFaults.writing(target.path) {
    stream.write(container.finish())
    stream.close()
    WrittenFile(
      target.path,
      FileFormat.Avro,
      metrics.recordCount,
      stream.getPos,
      // The columns of a row stand together (spec: `data_file`, `column_sizes`).
      metrics.metrics(sizes = None),
      splitOffsets = Vector.empty
    )
  }

  override def abort(): Unit = {
    try stream.close()
    catch { case NonFatal(_) => () } // The file goes, whatever became of it.
    target.io.delete(target.path)
  }
}

private[avro] object AvroRecordWriter {

  /** What Apache Iceberg calls the record of a row, and the key under which it keeps the table's schema. */
  private val RecordName = "table"
  private val SchemaKey = "iceberg.schema"

  def open(target: DataTarget): AvroRecordWriter = {
    val struct = target.schema.asStruct
    val fields = new AvroSinks.Fields(struct, Vector.empty)
    val schema = AvroSchemas.of(struct, RecordName).toString
    val metadata = Map(SchemaKey -> SchemaJson.toJson(target.schema)) ++ target.keyValues
    val container = new AvroContainerWriter(schema, metadata.toVector.sorted, AvroCodec.ofRows(target.properties))
    new AvroRecordWriter(target, fields, container, DataOutput.of(target.io, target.path).create(0))
  }
}
