package iceberglite.data.orc

import iceberglite.data._
import iceberglite.metrics.MetricsModes
import iceberglite.spec.file.FileFormat
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Type.StructType

/** The ORC file format (spec: "Appendix A: ORC"). */
object OrcData extends DataFormat {
  override def format: FileFormat = FileFormat.Orc

  /** False, because writers round the bounds of timestamps to milliseconds. */
  override def boundsAreExact: Boolean = false

  override def read(source: DataSource, expected: StructType): RecordIterator = OrcRecords.open(source, expected)

  override def isReadByNames(source: DataSource): Boolean = source.nameMapping.isEmpty && !OrcInspection.hasIds(source)

  override def inspect(source: DataSource, schema: Schema, modes: MetricsModes): WrittenFile =
    OrcInspection.inspect(source, schema, modes)

  override def write(target: DataTarget): RecordWriter = OrcRecordWriter.open(target)
}
