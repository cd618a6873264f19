package iceberglite.spark.write

import org.apache.spark.sql.connector.write.WriterCommitMessage

import iceberglite.spec.file.ContentFile

/** The result that a task sends to the driver. */
private[iceberglite] trait TaskResult extends WriterCommitMessage {

  /** The paths of the files that the task has written. */
  def paths: Vector[String]
}

private[iceberglite] object TaskResult {

  /** Returns the results in the messages. The message of a task that did not finish is null. */
  def of(messages: Array[WriterCommitMessage]): Vector[TaskResult] =
    messages.toVector.collect { case result: TaskResult => result }
}

/** The data files of a task, and its row counts. Without a change column, all rows are counted as copied rows. */
final private[iceberglite] class WrittenFiles(val files: Array[ContentFile], val counts: RowCounts)
    extends TaskResult {
  override def paths: Vector[String] = files.iterator.map(_.path).toVector
}
