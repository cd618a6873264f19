package iceberglite.data.orc

import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch
import org.apache.orc.TypeDescription
import org.apache.orc.TypeDescription.Category
import org.apache.orc.impl.ReaderImpl

import iceberglite.data._
import iceberglite.spec.{NameMapping, Schema}
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.Type.StructType

/** The rows of one file, batch by batch. */
final private[orc] class OrcRecords private (
    path: String,
    reader: ReaderImpl,
    stripes: OrcStripes,
    batch: VectorizedRowBatch,
    values: OrcValues.Structs
) extends RecordIterator {
  private var next0 = 0
  private var ordinal = 0L
  private var closed = false

  override def hasNext: Boolean = {
    while (!closed && next0 >= batch.size) load()
    !closed
  }

  override def next(): Record =
    if (!hasNext) throw new NoSuchElementException("No more rows")
    else {
      val record =
        try values.record(batch.cols, next0, ordinal)
        catch { case e: Throwable => throw fault(e) }
      next0 += 1
      ordinal += 1
      record
    }

  private def load(): Unit = {
    val more =
      try stripes.next(batch)
      catch { case e: Throwable => throw fault(e) }
    next0 = 0
    if (!more) close()
  }

  private def fault(e: Throwable): Throwable = {
    close()
    e match {
      case bad: OrcValues.BadValue => UnreadableFile(path, FileFaults.Role, s"Column ${bad.column}: ${bad.reason}")
      case other => FileFaults.unreadable(path, other)
    }
  }

  override def close(): Unit = if (!closed) {
    closed = true
    batch.size = 0
    try stripes.close()
    finally reader.close()
  }
}

private[orc] object OrcRecords {
  def open(source: DataSource, wanted: StructType): OrcRecords = FileFaults.reading(source.path) {
    val storage = OrcStorage.toRead(source.io, source.path)
    val reader = OrcTail.open(source.path, storage)
    try open(source, storage, reader, wanted)
    catch {
      case e: Throwable =>
        reader.close()
        throw e
    }
  }

  private def open(source: DataSource, storage: OrcStorage, reader: ReaderImpl, wanted: StructType): OrcRecords = {
    if (reader.getSchema.getCategory != Category.STRUCT) {
      throw UnreadableFile(source.path, FileFaults.Role, s"Its rows are of ORC type ${reader.getSchema.getCategory}")
    }
    val file = withIds(reader.getSchema, source.nameMapping, wanted)
    val projection = new OrcProjection(file, new Projection(source.path, source.constants))
    val values = projection.rows(wanted)
    val stripes = new OrcStripes(source.path, storage, reader, projection.included)
    new OrcRecords(source.path, reader, stripes, reader.getSchema.createRowBatch(), values)
  }

  /**
   * A file without any id gets them by the names in the table's mapping or, where it has none, by the names of the
   * columns that are read, as Apache Iceberg does it.
   */
  private def withIds(file: TypeDescription, mapping: Option[NameMapping], wanted: StructType): TypeDescription =
    if (OrcSchemas.hasIds(file)) file
    else OrcNameMapping(file, mapping.getOrElse(NameMapping.of(Schema(0, wanted.fields))))
}
