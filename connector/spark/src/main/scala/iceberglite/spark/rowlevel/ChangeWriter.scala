package iceberglite.spark.rowlevel

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow}
import org.apache.spark.sql.connector.metric.CustomTaskMetric
import org.apache.spark.sql.connector.write.{DeltaWriter, DeltaWriterFactory, WriterCommitMessage}
import org.apache.spark.sql.iceberglite.TaskOutput

import iceberglite.spark.write.{RowCounts, TaskWriter, TaskWriterFactory, WriteMetrics, WrittenFiles}
import iceberglite.spec.file.ContentFile
import iceberglite.table.{Cleanup, DataFileNames}

/**
 * The layout of the metadata columns that Spark passes with each deleted or updated row.
 *
 * @param partitionSize the number of fields of the partition struct
 * @param rowId the index of `_row_id` among the metadata columns; absent before version 3
 */
final private[rowlevel] case class ChangeMetadata(partitionSize: Int, rowId: Option[Int])

/**
 * Creates the writers of a statement's tasks on the executors.
 *
 * @param rowWriterFactory creates the writers of new rows; absent for DELETE, which has no new rows
 */
final private[rowlevel] class ChangeWriterFactory(
    rowWriterFactory: Option[TaskWriterFactory],
    deleteTarget: DeleteFileTarget,
    metadata: ChangeMetadata,
    operationId: String
) extends DeltaWriterFactory {

  override def createWriter(partitionId: Int, taskId: Long): DeltaWriter[InternalRow] = {
    def names(extension: String) = new DataFileNames(partitionId, taskId, operationId, extension)
    new ChangeWriter(rowWriterFactory.map(_.createWriter(partitionId, taskId)), deleteTarget, metadata, names)
  }
}

/**
 * Writes the changes of one task. New rows go to data files as they arrive. The positions of deleted and updated rows
 * are collected in memory, and written to delete files at the end of the task.
 *
 * @param rowWriter the writer of new rows; absent for DELETE, which has no new rows
 * @param names returns names for the task's files with a given file extension
 */
final private[rowlevel] class ChangeWriter(
    rowWriter: Option[TaskWriter],
    deleteTarget: DeleteFileTarget,
    metadata: ChangeMetadata,
    names: String => DataFileNames
) extends DeltaWriter[InternalRow] {
  private val deletes = new CollectedPositionDeletes(metadata.partitionSize)
  private var inserted = 0L
  private var updated = 0L
  private var deleted = 0L
  private var deleteFilePaths = Vector.empty[String]
  private val metricsWithoutNewRows = WriteMetrics.of(0L, 0L, 0L)

  private val lineage = new GenericInternalRow(2)
  private val rowWithLineage = new JoinedRow

  override def delete(oldMetadata: InternalRow, id: InternalRow): Unit = {
    deleted += 1
    deletes.add(id.getUTF8String(0), id.getLong(1), oldMetadata)
  }

  /**
   * Updates a row. In version 3, the new version of the row keeps the `_row_id` of the old version, and the commit
   * determines the `_last_updated_sequence_number`.
   */
  override def update(oldMetadata: InternalRow, id: InternalRow, row: InternalRow): Unit = {
    deletes.add(id.getUTF8String(0), id.getLong(1), oldMetadata)
    updated += 1
    metadata.rowId match {
      case Some(index) =>
        if (oldMetadata.isNullAt(index)) lineage.setNullAt(0) else lineage.setLong(0, oldMetadata.getLong(index))
        writeNew(rowWithLineage(row, lineage))
      case None => writeNew(row)
    }
  }

  override def insert(row: InternalRow): Unit = {
    inserted += 1
    if (metadata.rowId.isEmpty) writeNew(row)
    else {
      lineage.setNullAt(0)
      writeNew(rowWithLineage(row, lineage))
    }
  }

  private def writeNew(row: InternalRow): Unit = rowWriter match {
    case Some(writer) => writer.write(row)
    case None => throw new IllegalStateException("A DELETE has no new rows")
  }

  override def commit(): WriterCommitMessage = {
    // For a row that matches several source rows, `delete` may be called more than once. The row is counted only once.
    deleted = deletes.count - updated
    val taskDeletes = deleteTarget.write(deletes, names, path => deleteFilePaths :+= path)
    taskDeletes.files.map(_.file).foreach { file =>
      // The file size of a deletion vector is not used, because the file may contain other deletion vectors.
      TaskOutput.add(file.contentSizeInBytes.getOrElse(file.fileSizeInBytes), file.recordCountOrZero)
    }
    val files: Array[ContentFile] = rowWriter.map(_.commit()) match {
      case Some(message: WrittenFiles) => message.files
      case _ => Array.empty
    }
    new WrittenChanges(files, taskDeletes, counts)
  }

  private def counts: RowCounts = RowCounts(inserted, updated, deleted, copied = 0L)

  override def abort(): Unit = {
    rowWriter.foreach(_.abort())
    Cleanup.delete(deleteTarget.io, deleteFilePaths)
  }

  override def close(): Unit = rowWriter.foreach(_.close())

  /**
   * Returns the metrics of new rows, followed by the metrics of changed rows. If a name occurs twice, Spark uses the
   * last value.
   */
  override def currentMetricsValues: Array[CustomTaskMetric] =
    rowWriter.fold(metricsWithoutNewRows)(_.currentMetricsValues) ++ WriteMetrics.of(counts)
}
