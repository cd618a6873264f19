package iceberglite.spark.rowlevel

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow}
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.{DeltaWriter, DeltaWriterFactory, WriterCommitMessage}

import iceberglite.spark.write.{RowCounts, TaskWriter, TaskWriterFactory, WriteMetrics, WrittenFiles}
import iceberglite.spec.file.ContentFile
import iceberglite.table.{Cleanup, DataFileNames}

/**
 * The metadata that Spark passes with each deleted or updated row.
 *
 * @param partitionSize the number of fields of the partition struct
 * @param rowId the index of `_row_id` in the metadata; absent before version 3
 */
final private[rowlevel] case class ChangeMetadata(partitionSize: Int, rowId: Option[Int])

/**
 * Creates the writers of a statement's tasks on the executors.
 *
 * @param rows creates the writers of new rows; absent for DELETE
 */
final private[rowlevel] class ChangeWriterFactory(
    rows: Option[TaskWriterFactory],
    deletes: DeleteFileTarget,
    metadata: ChangeMetadata,
    operationId: String
) extends DeltaWriterFactory {

  override def createWriter(partitionId: Int, taskId: Long): DeltaWriter[InternalRow] = {
    def names(extension: String) = new DataFileNames(partitionId, taskId, operationId, extension)
    new ChangeWriter(rows.map(_.createWriter(partitionId, taskId)), deletes, metadata, names)
  }
}

/** Writes the changes of one task: new rows to data files, and positions of old rows to delete files at the end. */
final private[rowlevel] class ChangeWriter(
    rows: Option[TaskWriter],
    target: DeleteFileTarget,
    metadata: ChangeMetadata,
    names: String => DataFileNames
) extends DeltaWriter[InternalRow] {
  private val deletes = new PositionDeletes(metadata.partitionSize)
  private var inserted = 0L
  private var updated = 0L
  private var deleted = 0L
  private var deleteFiles = Vector.empty[String]
  private val noRows = WriteMetrics.of(0L, 0L, 0L)

  private val lineage = new GenericInternalRow(2)
  private val withLineage = new JoinedRow

  override def delete(old: InternalRow, id: InternalRow): Unit = {
    deleted += 1
    deletes.add(id.getUTF8String(0), id.getLong(1), old)
  }

  /** Updates a row. The new version keeps its id; the commit determines the sequence number. */
  override def update(old: InternalRow, id: InternalRow, row: InternalRow): Unit = {
    deletes.add(id.getUTF8String(0), id.getLong(1), old)
    updated += 1
    metadata.rowId match {
      case Some(index) =>
        if (old.isNullAt(index)) lineage.setNullAt(0) else lineage.setLong(0, old.getLong(index))
        put(withLineage(row, lineage))
      case None => put(row)
    }
  }

  override def insert(row: InternalRow): Unit = {
    inserted += 1
    if (metadata.rowId.isEmpty) put(row)
    else {
      lineage.setNullAt(0)
      put(withLineage(row, lineage))
    }
  }

  private def put(row: InternalRow): Unit = rows match {
    case Some(writer) => writer.write(row)
    case None => throw new IllegalStateException("A DELETE has no new rows")
  }

  override def commit(): WriterCommitMessage = {
    // A row that matches several source rows may be deleted more than once.
    deleted = deletes.count - updated
    val written = target.write(deletes, names, path => deleteFiles :+= path)
    val files: Array[ContentFile] = rows.map(_.commit()) match {
      case Some(message: WrittenFiles) => message.files
      case _ => Array.empty
    }
    new WrittenChanges(files, written, counts)
  }

  private def counts: RowCounts = RowCounts(inserted, updated, deleted, copied = 0L)

  override def abort(): Unit = {
    rows.foreach(_.abort())
    Cleanup.delete(target.io, deleteFiles)
  }

  override def close(): Unit = rows.foreach(_.close())

  /** Returns the metrics. If a name occurs twice, Spark uses the last value. */
  override def currentMetricsValues: Array[CustomTaskMetric] =
    rows.fold(noRows)(_.currentMetricsValues) ++ WriteMetrics.of(counts)
}
