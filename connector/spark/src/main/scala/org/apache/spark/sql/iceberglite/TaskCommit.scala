package org.apache.spark.sql.iceberglite

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.sql.errors.QueryExecutionErrors

/** The permission to commit the output of a task. Only code in Spark's packages can ask for it. */
object TaskCommit {

  /**
   * Checks that this attempt may commit the output of its task. Of several attempts of a task, as in speculative
   * execution, only one attempt may. After the job was cancelled, no attempt may.
   *
   * @throws Throwable if the attempt may not commit. Spark does not count this error as a failure of the task
   */
  def require(context: TaskContext): Unit = {
    val (stage, stageAttempt, partition) = (context.stageId(), context.stageAttemptNumber(), context.partitionId())
    val attempt = context.attemptNumber()
    // Spark kills the tasks of a cancelled job before it denies their commits.
    val mayCommit = !context.isInterrupted() &&
      SparkEnv.get.outputCommitCoordinator.canCommit(stage, stageAttempt, partition, attempt)
    if (!mayCommit)
      throw QueryExecutionErrors.commitDeniedError(partition, context.taskAttemptId(), attempt, stage, stageAttempt)
  }
}
