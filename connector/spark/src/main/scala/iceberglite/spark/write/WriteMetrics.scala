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

private[write] object WriteMetrics {
  def all: Array[CustomMetric] = Array(new AddedDataFiles, new AddedRecords, new AddedFileBytes)

  /** What one task has done. */
  def of(files: Long, records: Long, bytes: Long): Array[CustomTaskMetric] = Array(
    TaskMetric(AddedDataFiles.Name, files),
    TaskMetric(AddedRecords.Name, records),
    TaskMetric(AddedFileBytes.Name, bytes)
  )

  final private case class TaskMetric(name: String, value: Long) extends CustomTaskMetric
}
