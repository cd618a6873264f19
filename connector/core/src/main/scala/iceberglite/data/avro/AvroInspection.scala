package iceberglite.data.avro

import iceberglite.avro.{AvroContainerReader, AvroSource}
import iceberglite.data.{DataSource, FileFaults, ImportedColumns, Projection, WrittenFile}
import iceberglite.spec.file.{FileFormat, MetricMaps}
import iceberglite.spec.schema.Schema
import iceberglite.storage.DataInput

/**
 * Derives the metadata of an Avro file from its header and the headers of its blocks. Avro files contain no column
 * metrics.
 */
private[avro] object AvroInspection {
  def inspect(source: DataSource, schema: Schema): WrittenFile =
    withContainer(source) { container =>
      val projection = Projection.ofRecords(source.path, source.constants)
      val (record, _) = AvroRowIterator.matchColumns(source, container, schema.asStruct, projection)
      ImportedColumns.check(source, AvroRowIterator.columnIds(record, source, schema.asStruct), schema)
      WrittenFile(source.path, FileFormat.Avro, container.countRecords(), source.length, MetricMaps(), Vector.empty)
    }

  /** Whether any field of a file has a field id. */
  def hasIds(source: DataSource): Boolean =
    withContainer(source)(container => AvroNameMapping.hasIds(AvroRowIterator.schemaOf(container)))

  private def withContainer[A](source: DataSource)(work: AvroContainerReader => A): A =
    FileFaults.wrapReadErrors(source.path) {
      val stream = DataInput.of(source.content, source.path).newStream()
      val container = AvroContainerReader.open(AvroSource.seekable(source.path, stream))
      try work(container)
      finally container.close()
    }
}
