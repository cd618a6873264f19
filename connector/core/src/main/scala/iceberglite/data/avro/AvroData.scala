package iceberglite.data.avro

import iceberglite.data._
import iceberglite.metrics.MetricsModes
import iceberglite.spec.file.FileFormat
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Type.StructType

/** The Avro file format (spec: "Appendix A: Avro"). */
object AvroData extends DataFormat {
  override def format: FileFormat = FileFormat.Avro

  override def boundsAreExact: Boolean = true

  override def read(source: DataSource, expected: StructType): RecordIterator = AvroRecords.open(source, expected)

  override def isReadByNames(source: DataSource): Boolean = source.nameMapping.isEmpty && !AvroInspection.hasIds(source)

  override def inspect(source: DataSource, schema: Schema, modes: MetricsModes): WrittenFile =
    AvroInspection.inspect(source, schema)

  override def write(target: DataTarget): RecordWriter = AvroRecordWriter.open(target)
}
