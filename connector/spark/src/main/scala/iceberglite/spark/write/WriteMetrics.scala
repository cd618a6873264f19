package iceberglite.spark.write

import org.apache.spark.sql.connector.metric.{CustomMetric, CustomSumMetric, CustomTaskMetric}

/** What the tasks of a write have done, in the SQL tab. Spark makes the objects again by their classes' names. */
final class AddedDataFiles extends CustomSumMetric {
  override def name: String = AddedDataFiles.Name
  override def description: String = "number of added data files"
}
private[write] object AddedDataFiles {
  val Name = "addedDataFiles"
}

final class AddedRecords extends CustomSumMetric {
  override def name: String = AddedRecords.Name
  override def description: String = "number of added records"
}
private[write] object AddedRecords {
  val Name = "addedRecords"
}

final class AddedFileBytes extends CustomSumMetric {
  override def name: String = AddedFileBytes.Name
  override def description: String = "size of added data files in bytes"
}
private[write] object AddedFileBytes {
  val Name = "addedFileSizeInBytes"
}

final class InsertedRows extends CustomSumMetric {
  override def name: String = InsertedRows.Name
  override def description: String = "number of inserted rows"
}
private[write] object InsertedRows {
  val Name = "insertedRows"
}

final class UpdatedRows extends CustomSumMetric {
  override def name: String = UpdatedRows.Name
  override def description: String = "number of updated rows"
}
private[write] object UpdatedRows {
  val Name = "updatedRows"
}

/** By merge-on-read; by copy-on-write tasks seldom hear of them. */
final class DeletedRows extends CustomSumMetric {
  override def name: String = DeletedRows.Name
  override def description: String = "number of deleted rows"
}
private[write] object DeletedRows {
  val Name = "deletedRows"
}

final class CopiedRows extends CustomSumMetric {
  override def name: String = CopiedRows.Name
  override def description: String = "number of rows copied unchanged"
}
private[write] object CopiedRows {
  val Name = "copiedRows"
}

private[write] object WriteMetrics {
  def all: Array[CustomMetric] = Array(new AddedDataFiles, new AddedRecords, new AddedFileBytes)

  /** Of copy-on-write. */
  def ofCopies: Array[CustomMetric] =
    all ++ Array(new InsertedRows, new UpdatedRows, new DeletedRows, new CopiedRows)

  /** Of merge-on-read. */
  def ofChanges: Array[CustomMetric] = all ++ Array(new InsertedRows, new UpdatedRows, new DeletedRows)

  /** What became of the rows of one task. */
  def of(counts: RowCounts): Array[CustomTaskMetric] = Array(
    TaskMetric(InsertedRows.Name, counts.inserted),
    TaskMetric(UpdatedRows.Name, counts.updated),
    TaskMetric(DeletedRows.Name, counts.deleted),
    TaskMetric(CopiedRows.Name, counts.copied)
  )

  /** What one task has done. */
  def of(files: Long, records: Long, bytes: Long): Array[CustomTaskMetric] = Array(
    TaskMetric(AddedDataFiles.Name, files),
    TaskMetric(AddedRecords.Name, records),
    TaskMetric(AddedFileBytes.Name, bytes)
  )

  final private case class TaskMetric(name: String, value: Long) extends CustomTaskMetric
}
