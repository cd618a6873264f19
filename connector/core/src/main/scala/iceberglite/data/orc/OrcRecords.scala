package iceberglite.data.orc

import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch
import org.apache.orc.TypeDescription.RowBatchVersion

import iceberglite.data._
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.types.Type.StructType

/** Reads the rows of one file in batches. */
final private[orc] class OrcRecords private (path: String, batches: OrcBatchReader[AnyRef]) extends RecordIterator {
  private val values = OrcValues.of(batches.columns)
  private val batch = batches.batch
  private var nextRow = 0
  private var closed = false

  override def hasNext: Boolean = {
    while (!closed && nextRow >= batch.size) load()
    !closed
  }

  override def next(): Record =
    if (!hasNext) throw new NoSuchElementException("No more rows")
    else {
      val record =
        try values.record(batch.cols, nextRow, batches.firstRow + nextRow)
        catch { case e: Throwable => throw fault(e) }
      nextRow += 1
      record
    }

  private def load(): Unit = {
    val hasMore =
      try batches.next()
      catch { case e: Throwable => throw fault(e) }
    nextRow = 0
    if (!hasMore) close()
  }

  private def fault(e: Throwable): Throwable = {
    close()
    e match {
      case invalid: OrcValues.InvalidValue =>
        UnreadableFile(path, FileFaults.Role, s"Column ${invalid.column}: ${invalid.reason}")
      case other => FileFaults.unreadable(path, other)
    }
  }

  override def close(): Unit = if (!closed) {
    closed = true
    batches.close()
  }
}

private[orc] object OrcRecords {
  def open(source: DataSource, expected: StructType): OrcRecords = {
    val projection = Projection.ofRecords(source.path, source.constants)
    val batchSize = VectorizedRowBatch.DEFAULT_SIZE
    val batches =
      OrcBatchReader.open(source, OrcPart.Whole, expected, projection, batchSize, RowBatchVersion.ORIGINAL)
    new OrcRecords(source.path, batches)
  }
}
