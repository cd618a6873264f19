package iceberglite.spark.write

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

/** A metric of a write's tasks in the SQL tab of Spark's UI. Spark instantiates the classes by name. */
sealed abstract class WriteMetric(override val name: String, override val description: String) extends CustomSumMetric {

  /** Returns the metric with its value in one task. */
  private[write] def of(task: Long): CustomTaskMetric = WriteMetrics.Value(name, task)
}

final class AddedDataFilesMetric extends WriteMetric("addedDataFiles", "number of added data files")

final class AddedRecordsMetric extends WriteMetric("addedRecords", "number of added records")

final class AddedFileBytesMetric extends WriteMetric("addedFileSizeInBytes", "size of added data files in bytes")

final class InsertedRowsMetric extends WriteMetric("insertedRows", "number of inserted rows")

final class UpdatedRowsMetric extends WriteMetric("updatedRows", "number of updated rows")

/**
 * Counts the rows that merge-on-read statements delete. In copy-on-write, the write usually does not receive deleted
 * rows.
 */
final class DeletedRowsMetric extends WriteMetric("deletedRows", "number of deleted rows")

final class CopiedRowsMetric extends WriteMetric("copiedRows", "number of rows copied unchanged")

private[iceberglite] object WriteMetrics {
  private val files = new AddedDataFilesMetric
  private val records = new AddedRecordsMetric
  private val bytes = new AddedFileBytesMetric
  private val inserted = new InsertedRowsMetric
  private val updated = new UpdatedRowsMetric
  private val deleted = new DeletedRowsMetric
  private val copied = new CopiedRowsMetric

  def all: Array[CustomMetric] = Array(files, records, bytes)

  /** The metrics of copy-on-write. */
  def ofCopyOnWrite: Array[CustomMetric] = ofMergeOnRead :+ copied

  /** The metrics of merge-on-read. */
  def ofMergeOnRead: Array[CustomMetric] = all ++ Array[CustomMetric](inserted, updated, deleted)

  /** Returns the metrics of the rows that one task has changed. */
  def of(counts: RowCounts): Array[CustomTaskMetric] = Array(
    inserted.of(counts.inserted),
    updated.of(counts.updated),
    deleted.of(counts.deleted),
    copied.of(counts.copied)
  )

  /** Returns the metrics of the files and rows that one task has added. */
  def of(addedFiles: Long, addedRecords: Long, addedBytes: Long): Array[CustomTaskMetric] =
    Array(files.of(addedFiles), records.of(addedRecords), bytes.of(addedBytes))

  final private[write] case class Value(override val name: String, override val value: Long) extends CustomTaskMetric
}
