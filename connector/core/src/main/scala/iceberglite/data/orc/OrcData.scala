package iceberglite.data.orc

import iceberglite.data._
import iceberglite.spec.file.FileFormat
import iceberglite.spec.types.Type.StructType

/** The ORC file format (spec: "Appendix A: ORC"). */
object OrcData extends DataFormat {
  override def format: FileFormat = FileFormat.Orc

  override def read(source: DataSource, expected: StructType): RecordIterator = OrcRecords.open(source, expected)

  override def write(target: DataTarget): RecordWriter = OrcRecordWriter.open(target)
}
