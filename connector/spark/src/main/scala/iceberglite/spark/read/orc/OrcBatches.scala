package iceberglite.spark.read.orc

import org.apache.orc.TypeDescription.RowBatchVersion
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

import iceberglite.data.{DataSource, Projection}
import iceberglite.data.orc.{OrcBatchReader, OrcPart}
import iceberglite.spark.read.deletes.LiveBatch
import iceberglite.spark.read.files.{FileBatches, FileTask}
import iceberglite.spark.read.formats.{BatchFormat, FileReadParameters}
import iceberglite.spark.read.vector.PositionsVector
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.file.FileFormat

/**
 * The batches of one split of an ORC file. Their Spark columns read the vectors of the ORC library without copying the
 * values.
 */
final private[read] class OrcBatches(
    reader: OrcBatchReader[ColumnVector],
    positions: PositionsVector,
    allRows: ColumnarBatch,
    liveBatch: Option[LiveBatch]
) extends FileBatches {
  override def batch: ColumnarBatch = liveBatch.fold(allRows)(_.batch)

  override def next(): Boolean = {
    var hasRows = false
    while (!hasRows && reader.next()) {
      positions.first = reader.firstRow
      val rows = reader.batch.size
      allRows.setNumRows(rows)
      hasRows = liveBatch.forall(_.select(rows))
    }
    hasRows
  }

  override def close(): Unit = reader.close()
}

private[read] object OrcBatches extends BatchFormat {

  override def format: FileFormat = FileFormat.Orc

  override def open(task: FileTask, read: FileReadParameters): OrcBatches = {
    val columns = read.columns
    val capacity = read.settings.rows
    val positions = new PositionsVector
    val source = DataSource(read.io, task.path, task.fileLength, columns.mapping, key = task.key)
    val part = OrcPart(task.start, task.length, task.filter, task.withoutNan)
    val projection = new Projection(task.path, columns.replacement(task, positions))
    val expected = columns.stored(task)
    val reader = OrcBatchReader.open(source, part, expected, projection, capacity, RowBatchVersion.USE_DECIMAL64)
    try {
      val vectors = new OrcVectorColumns(positions, invalidValue(task, read.tableName), read.settings.variants)
      val storedColumns = vectors.of(reader.columns, expected.fields, reader.batch.cols)
      val allRows = new ColumnarBatch(columns.of(task, storedColumns, positions).toArray)
      new OrcBatches(reader, positions, allRows, read.deletes.map(_.liveBatch(allRows, capacity)))
    } catch {
      case e: Throwable =>
        reader.close()
        throw e
    }
  }

  private def invalidValue(task: FileTask, tableName: String)(column: String, reason: String): Throwable =
    UnreadableFile(task.path, FileTask.role(tableName), s"Column $column: $reason")
}
