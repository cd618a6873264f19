package iceberglite.data.avro

import scala.collection.JavaConverters._

import org.apache.avro.{Schema => AvroSchema}

import iceberglite.avro.{
  AvroContainerReader,
  AvroFault,
  AvroInput,
  AvroLimits,
  AvroPart,
  AvroSchemaCheck,
  AvroSource,
  DecodedRecords
}
import iceberglite.data.{DataSource, FileFaults, Projection}
import iceberglite.spec.schema.{NameMapping, Schema}
import iceberglite.spec.types.Type.StructType
import iceberglite.storage.DataInput

/**
 * Iterates over the rows of a part of an Avro file. The caller chooses how rows are represented.
 *
 * @tparam V representation of a constant value, such as the default of a column that the file lacks
 * @tparam A representation of a row
 * @param columns the requested columns, matched to the file's schema
 */
final private[iceberglite] class AvroRowIterator[V, A] private (
    val columns: AvroColumn.Struct[V],
    container: AvroContainerReader,
    records: DecodedRecords[A]
) extends Iterator[A] with AutoCloseable {

  /** The position of the next row in the file. It is valid only if the part tracks positions. */
  def position: Long = records.position

  /** The consumed part of the current block of the file; see [[iceberglite.avro.AvroInput.consumed]]. */
  def consumed: Long = records.consumed

  override def hasNext: Boolean = records.hasNext
  override def next(): A = records.next()
  override def close(): Unit = container.close()
}

private[iceberglite] object AvroRowIterator {

  /**
   * Opens a split of a data file.
   *
   * @param decode called once with the columns of the file; returns a function that decodes one row
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file is damaged, or a column cannot be read as the
   *   expected type
   */
  def open[V, A](source: DataSource, part: AvroPart, expected: StructType, projection: Projection[V])(
      decode: AvroColumn.Struct[V] => AvroInput => A
  ): AvroRowIterator[V, A] = FileFaults.wrapReadErrors(source.path) {
    val stream = DataInput.of(source.content, source.path).newStream()
    val container = AvroContainerReader.open(AvroSource.seekable(source.path, stream))
    try {
      val (schema, columns) = matchColumns(source, container, expected, projection)
      val limits = AvroLimits.forRows(allowsEmptyRecords = AvroSchemaCheck.isEmpty(schema))
      new AvroRowIterator(columns, container, container.records(decode(columns), limits, part))
    } catch {
      case e: Throwable =>
        container.close()
        throw e
    }
  }

  /** Returns the schema of a file's rows, and the read plan for each row. */
  private[avro] def matchColumns[V](
      source: DataSource,
      container: AvroContainerReader,
      expected: StructType,
      projection: Projection[V]
  ): (AvroSchema, AvroColumn.Struct[V]) = {
    val schema = schemaOf(container)
    schema -> new AvroProjection(projection).struct(schema, expected, ids(schema, source, expected), Vector.empty)
  }

  /** Returns the schema of a file's rows. */
  private[avro] def schemaOf(container: AvroContainerReader): AvroSchema = {
    // Names and defaults are not validated, because other Avro implementations are less strict than the Java
    // implementation.
    val schema = new AvroSchema.Parser().setValidate(false).setValidateDefaults(false).parse(container.schema)
    AvroSchemaCheck.check(schema)
    if (schema.getType != AvroSchema.Type.RECORD) {
      throw AvroFault(s"The rows of the file have the Avro type ${schema.getType}, not a record type")
    }
    schema
  }

  /**
   * Returns the field ids of a file. If the file has no ids and the table has no name mapping, fields are matched by
   * the names of the columns to read, as in Apache Iceberg.
   */
  private def ids(record: AvroSchema, source: DataSource, expected: StructType): FieldIds =
    AvroNameMapping.ids(record, source.nameMapping.getOrElse(NameMapping.of(Schema(0, expected.fields))))

  /** Returns the names of a file's columns before they were escaped for Avro, and the field ids. */
  private[avro] def columnIds(
      record: AvroSchema,
      source: DataSource,
      expected: StructType
  ): Vector[(String, Option[Int])] = {
    val fieldIds = ids(record, source, expected)
    record.getFields.asScala.toVector.map(f => AvroTypes.columnName(f) -> fieldIds.of(f))
  }
}
