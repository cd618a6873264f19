package iceberglite.spark.stream.sink

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.write.streaming.{StreamingDataWriterFactory, StreamingWrite}
import org.apache.spark.sql.connector.write.{PhysicalWriteInfo, WriterCommitMessage}
import org.apache.spark.sql.execution.streaming.StreamExecution

import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.write.{TaskResult, WriteCommit, WriteTasks}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.table.SnapshotTarget
import iceberglite.table.action.RecordStreamEpoch

/**
 * The write of one micro-batch. The commit of its rows also records the id of the query and the epoch in the table. If
 * Spark runs the micro-batch again, because its checkpoint does not contain the commit, the record shows that the rows
 * are in the table: nothing is committed, and the new files are removed. If the outcome of a commit is unknown, its
 * files are kept, and the next run of the micro-batch checks whether the table contains the record.
 *
 * A micro-batch without rows commits nothing, because it needs no record: it would have the same result if it ran
 * again. In complete mode, it is committed, because it removes all rows of the table.
 */
final private[iceberglite] class IcebergStreamingWrite(
    tasks: WriteTasks,
    queryId: String,
    target: SnapshotTarget,
    metrics: SinkMetrics
) extends StreamingWrite
    with ErrorBoundary {

  private val writeCommit = new WriteCommit(tasks.table)

  override protected def errorName: String = tasks.table.name

  override def createStreamingWriterFactory(info: PhysicalWriteInfo): StreamingDataWriterFactory = in {
    requireMicroBatches()
    new EpochWriterFactory(tasks.writerFactory(writeCommit.operationId))
  }

  /** Rejects continuous processing, in which one write has many epochs, all with the plan of the first. */
  private def requireMicroBatches(): Unit = {
    val isContinuous =
      SparkSession.active.sparkContext.getLocalProperty(StreamExecution.IS_CONTINUOUS_PROCESSING)
    if (isContinuous == "true") throw Unsupported(
      s"continuous processing into ${tasks.table.name}",
      "Use Trigger.ProcessingTime or Trigger.AvailableNow"
    )
  }

  /**
   * Returns false, because the attempts of a task use different file names, and the commit adds only the files of the
   * attempt that Spark reports.
   */
  override def useCommitCoordinator: Boolean = false

  override def commit(epochId: Long, messages: Array[WriterCommitMessage]): Unit = in {
    val record = new RecordStreamEpoch(queryId, epochId, target)
    val committed =
      writeCommit.commit(messages)(tasks.pendingEpoch(TaskResult.of(messages), writeCommit, record))
    metrics.record(committed.flatMap(_.action).toVector.flatMap(_.writtenFiles))
  }

  override def abort(epochId: Long, messages: Array[WriterCommitMessage]): Unit = in(writeCommit.abort(messages))

  override def toString: String = s"IcebergStreamingWrite($tasks)"
}
