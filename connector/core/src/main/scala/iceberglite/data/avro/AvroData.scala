package iceberglite.data.avro

import iceberglite.data._
import iceberglite.spec.file.FileFormat
import iceberglite.spec.types.Type.StructType

/** The Avro file format (spec: "Appendix A: Avro"). */
object AvroData extends DataFormat {
  override def format: FileFormat = FileFormat.Avro

  override def read(source: DataSource, expected: StructType): RecordIterator = AvroRecords.open(source, expected)

  override def write(target: DataTarget): RecordWriter = AvroRecordWriter.open(target)
}
