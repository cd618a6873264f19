package iceberglite.spark.write

import org.apache.spark.sql.connector.write.DataWriterFactory

import iceberglite.table.Table
import iceberglite.table.action.RecordStreamEpoch

/**
 * The tasks of a write and the commit of their results, which are the same whether Spark runs the write as a batch or
 * for a micro-batch of a stream.
 */
private[iceberglite] trait WriteTasks {
  def table: Table

  /**
   * Creates the writers of the tasks.
   *
   * @param operationId the id of the write, which the names of its files contain
   */
  def writerFactory(operationId: String): DataWriterFactory

  /**
   * Returns the commit of the results of all tasks.
   *
   * @param write names the files that the driver adds to those of the tasks
   */
  def pending(results: Vector[TaskResult], write: WriteCommit): PendingCommit

  /** Like [[pending]], for a micro-batch of a stream. The same commit records the epoch of the micro-batch. */
  def pendingEpoch(results: Vector[TaskResult], write: WriteCommit, epoch: RecordStreamEpoch): PendingCommit =
    pending(results, write).recording(epoch)
}

/** The tasks of a write that creates data files. */
final private[iceberglite] class RowTasks(plan: WritePlan, mode: WriteMode) extends WriteTasks {
  override def table: Table = plan.table

  override def writerFactory(operationId: String): DataWriterFactory = TaskWriterFactory.of(plan, operationId)

  override def pending(results: Vector[TaskResult], write: WriteCommit): PendingCommit = {
    val taskResults = results.collect { case files: WrittenFiles => files }
    val action = mode.action(taskResults.flatMap(_.files), plan.settings.isolation, plan.settings.to)
    plan.pending(action, mode.countSummary(taskResults.map(_.counts)))
  }

  override def toString: String = s"table=${table.name}, mode=$mode"
}
