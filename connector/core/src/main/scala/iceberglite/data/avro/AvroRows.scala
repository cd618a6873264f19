package iceberglite.data.avro

import org.apache.avro.{Schema => AvroSchema}

import iceberglite.data.{DataSource, FileFaults, Projection}
import iceberglite.io
import iceberglite.io.{
  AvroContainerReader,
  AvroFault,
  AvroInput,
  AvroLimits,
  AvroPart,
  AvroSchemaCheck,
  AvroSource,
  DataInput
}
import iceberglite.spec.{NameMapping, Schema}
import iceberglite.spec.Type.StructType

/**
 * The rows of a part of one file, each as whoever reads them makes it.
 *
 * @param columns what is read of each row
 */
final private[iceberglite] class AvroRows[V, A] private (
    val columns: AvroColumn.Struct[V],
    container: AvroContainerReader,
    records: io.AvroRecords[A]
) extends Iterator[A] with AutoCloseable {

  /** The place in the file of the next row, if the part asks for places. */
  def position: Long = records.position

  /** Bytes of unpacked rows that are not taken yet. */
  def bytesLeft: Int = records.bytesLeft

  override def hasNext: Boolean = records.hasNext
  override def next(): A = records.next()
  override def close(): Unit = container.close()
}

private[iceberglite] object AvroRows {

  /**
   * @param decode made once of the columns of the file, takes one row
   * @throws iceberglite.spec.IcebergError.UnreadableFile for whatever is wrong with the file
   */
  def open[V, A](source: DataSource, part: AvroPart, wanted: StructType, projection: Projection[V])(
      decode: AvroColumn.Struct[V] => AvroInput => A
  ): AvroRows[V, A] = FileFaults.reading(source.path) {
    val stream = DataInput.of(source.io, source.path).newStream()
    val container = AvroContainerReader.open(AvroSource.seekable(source.path, stream))
    try {
      val (schema, columns) = matched(source, container, wanted, projection)
      val limits = AvroLimits.ofRows(emptyRecords = AvroSchemaCheck.isEmpty(schema))
      new AvroRows(columns, container, container.records(decode(columns), limits, part))
    } catch {
      case e: Throwable =>
        container.close()
        throw e
    }
  }

  private def matched[V](
      source: DataSource,
      container: AvroContainerReader,
      wanted: StructType,
      projection: Projection[V]
  ): (AvroSchema, AvroColumn.Struct[V]) = {
    // Names are the writer's business: other implementations are less strict than Avro's own.
    val schema = new AvroSchema.Parser().setValidate(false).setValidateDefaults(false).parse(container.schema)
    AvroSchemaCheck.check(schema)
    if (schema.getType != AvroSchema.Type.RECORD) {
      throw AvroFault(s"Its rows are of Avro type ${schema.getType}, not records")
    }
    // Without a mapping the names of the columns that are read are one, as in Apache Iceberg.
    val ids = AvroNameMapping.ids(schema, source.nameMapping.getOrElse(NameMapping.of(Schema(0, wanted.fields))))
    schema -> new AvroProjection(projection).struct(schema, wanted, ids, Vector.empty)
  }
}
