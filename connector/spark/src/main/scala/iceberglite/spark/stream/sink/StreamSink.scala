package iceberglite.spark.stream.sink

import org.apache.spark.sql.connector.write.streaming.StreamingWrite

import iceberglite.spark.conf.{ApplicationOptions, Settings, SparkOption, StreamWriteOptions, WriteAuditPublish}
import iceberglite.spark.write.{RowTasks, WriteMode, WritePlan, WriteTasks}
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.table.SnapshotTarget
import iceberglite.table.action.RecordApplicationVersion

/**
 * The sink of a streaming query, for one of its micro-batches.
 *
 * @param queryId the id of the query, which its checkpoint contains; restarts of the query have the same id
 * @param settings the options of the query, the settings of the session, and the properties of the table
 * @param target the branch that the query writes to
 * @param metrics receives the metrics of the micro-batch
 */
final private[iceberglite] case class StreamSink(
    queryId: String,
    settings: Settings,
    target: SnapshotTarget,
    metrics: SinkMetrics
) {

  /**
   * Returns the write of new rows.
   *
   * @param mode append, or an overwrite of all rows for a query in complete mode
   * @throws InvalidArgument if an option does not apply to streams
   * @throws Unsupported if the mode replaces only some rows of the table
   */
  def write(plan: WritePlan, mode: WriteMode): StreamingWrite =
    write(new RowTasks(plan, streamingMode(plan.table.name, mode)))

  /**
   * Returns the write for tasks, such as the tasks of an upsert.
   *
   * @throws InvalidArgument if an option does not apply to streams
   * @throws Unsupported if the session stages its writes
   */
  def write(tasks: WriteTasks): StreamingWrite = {
    if (target == SnapshotTarget.Staged) throw StreamSink.staged(tasks.table.name)
    for (option <- ApplicationOptions.all; value <- option.get(settings))
      throw StreamSink.notForStreams(option, value)
    new IcebergStreamingWrite(tasks, queryId, target, metrics)
  }

  private def streamingMode(table: String, mode: WriteMode): WriteMode = mode match {
    case WriteMode.Append => WriteMode.MicroBatchAppend(settings(StreamWriteOptions.MergeAppend))
    case WriteMode.OverwriteWhere(AlwaysTrue) => mode
    case other => throw Unsupported(
        s"a streaming write into $table that would $other",
        "A query in complete mode replaces all rows; remove the option overwrite-mode, or write the batches in " +
          "foreachBatch"
      )
  }
}

private[iceberglite] object StreamSink {

  /** Returns the error for a query whose micro-batches would all be staged under one id. */
  private def staged(table: String): Unsupported = Unsupported(
    s"a streaming write into $table in a session with ${WriteAuditPublish.IdKey}",
    s"Run RESET ${WriteAuditPublish.IdKey}, and write to a branch with ${WriteAuditPublish.BranchKey} instead"
  )

  private def notForStreams(option: SparkOption[_], value: Any): InvalidArgument = InvalidArgument(
    s"option ${option.key}",
    value.toString,
    "A streaming query already records its id and the number of its last batch in the table property " +
      s"${RecordApplicationVersion.Prefix}<query id>. Remove the option, or use it in foreachBatch"
  )
}
