package iceberglite.data.avro

import org.apache.avro.{Schema => AvroSchema}

import iceberglite.data._
import iceberglite.io.{AvroContainerReader, AvroFault, AvroInput, AvroLimits, AvroSchemaCheck, AvroSource}
import iceberglite.spec.{MetadataColumns, NameMapping, Schema}
import iceberglite.spec.Type.StructType

/**
 * The rows of one file, block by block.
 *
 * @param position where a record holds its ordinal; -1 where nobody wants it
 */
final private[avro] class AvroRecords private (
    path: String,
    container: AvroContainerReader,
    records: Iterator[Record],
    position: Int
) extends RecordIterator {
  private var ordinal = 0L
  private var closed = false

  override def hasNext: Boolean =
    if (closed) false
    else {
      val more =
        try records.hasNext
        catch { case e: Throwable => throw fault(e) }
      if (!more) close()
      more
    }

  override def next(): Record = {
    if (!hasNext) throw new NoSuchElementException("No more rows")
    val record =
      try records.next()
      catch { case e: Throwable => throw fault(e) }
    if (position >= 0) record.values(position) = Long.box(ordinal)
    ordinal += 1
    record
  }

  private def fault(e: Throwable): Throwable = {
    close()
    FileFaults.unreadable(path, e)
  }

  override def close(): Unit = if (!closed) {
    closed = true
    container.close()
  }
}

private[avro] object AvroRecords {
  def open(source: DataSource, wanted: StructType): AvroRecords = FileFaults.reading(source.path) {
    val container = AvroContainerReader.open(AvroSource.of(source.path, source.io.open(source.path)))
    try open(source, container, wanted)
    catch {
      case e: Throwable =>
        container.close()
        throw e
    }
  }

  private def open(source: DataSource, container: AvroContainerReader, wanted: StructType): AvroRecords = {
    // Names are the writer's business: other implementations are less strict than Avro's own.
    val schema = new AvroSchema.Parser().setValidate(false).setValidateDefaults(false).parse(container.schema)
    AvroSchemaCheck.check(schema)
    if (schema.getType != AvroSchema.Type.RECORD) {
      throw AvroFault(s"Its rows are of Avro type ${schema.getType}, not records")
    }
    // Without a mapping the names of the columns that are read are one, as in Apache Iceberg.
    val ids = AvroNameMapping.ids(schema, source.nameMapping.getOrElse(NameMapping.of(Schema(0, wanted.fields))))
    val rows =
      new AvroProjection(new Projection(source.path, source.constants)).struct(schema, wanted, ids, Vector.empty)
    val decode: AvroInput => Record = rows.read
    val records = container.records(decode, AvroLimits.ofRows(emptyRecords = AvroSchemaCheck.isEmpty(schema)))
    new AvroRecords(source.path, container, records, wanted.fields.indexWhere(_.id == MetadataColumns.Position.id))
  }
}
