package iceberglite.data.avro

import iceberglite.avro.{AvroInput, AvroPart}
import iceberglite.data._
import iceberglite.spec.schema.MetadataColumns
import iceberglite.spec.types.Type.StructType

/**
 * Reads the rows of one file block by block.
 *
 * @param positionIndex index of the row position among the values of a record; -1 if the row position is not requested
 */
final private[avro] class AvroRecords private (path: String, rows: AvroRowIterator[AnyRef, Record], positionIndex: Int)
    extends RecordIterator {
  private var closed = false

  override def hasNext: Boolean =
    if (closed) false
    else {
      val hasMore =
        try rows.hasNext
        catch { case e: Throwable => throw fault(e) }
      if (!hasMore) close()
      hasMore
    }

  override def next(): Record = {
    if (!hasNext) throw new NoSuchElementException("No more rows")
    val ordinal = rows.position
    val record =
      try rows.next()
      catch { case e: Throwable => throw fault(e) }
    if (positionIndex >= 0) record.values(positionIndex) = Long.box(ordinal)
    record
  }

  private def fault(e: Throwable): Throwable = {
    close()
    FileFaults.unreadable(path, e)
  }

  override def close(): Unit = if (!closed) {
    closed = true
    rows.close()
  }
}

private[avro] object AvroRecords {
  def open(source: DataSource, expected: StructType): AvroRecords = {
    val projection = Projection.ofRecords(source.path, source.constants)
    val rows = AvroRowIterator.open(source, AvroPart.Whole, expected, projection) { columns =>
      val values = AvroValues.of(columns)
      (in: AvroInput) => values.read(in)
    }
    new AvroRecords(source.path, rows, expected.fields.indexWhere(_.id == MetadataColumns.Position.id))
  }
}
