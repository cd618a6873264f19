package iceberglite.spark.cluster

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{
  JobSucceeded,
  SparkListener,
  SparkListenerJobEnd,
  SparkListenerJobStart,
  SparkListenerTaskEnd
}

/** Observes the jobs of a Spark application. The Python package shows the newest activity as a progress bar. */
final class JobProgress(context: SparkContext) extends SparkListener {
  import JobProgress.RunningJob

  private var running = Map.empty[Int, RunningJob]
  private var newest = JobActivity(0, "", 0, 0, 0, 0, 0)

  def start(): Unit = context.addSparkListener(this)

  def stop(): Unit = context.removeSparkListener(this)

  /** Returns the newest activity, which may have ended. Its number is 0 if no job has begun. */
  def current(): JobActivity = synchronized(newest)

  override def onJobStart(event: SparkListenerJobStart): Unit = synchronized {
    val described = Option(event.properties).flatMap(p => Option(p.getProperty(ClusterJob.Description)))
    val description = described.orElse(event.stageInfos.lastOption.map(_.name)).getOrElse("")
    if (newest.number == 0 || description != newest.description)
      newest = JobActivity(newest.number + 1, description, 0, 0, 0, 0, 0)
    val tasks = event.stageInfos.map(_.numTasks).sum
    newest = newest.copy(tasks = newest.tasks + tasks, runningJobs = newest.runningJobs + 1)
    running += event.jobId -> RunningJob(newest.number, event.stageIds.toSet, tasks)
  }

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit = synchronized {
    running.find(_._2.stages.contains(event.stageId)).filter(_ => event.taskInfo.successful).foreach { case (id, job) =>
      running += id -> job.copy(openTasks = job.openTasks - 1)
      val metrics = Option(event.taskMetrics)
      if (job.activity == newest.number) newest = newest.copy(
        completedTasks = newest.completedTasks + 1,
        bytesRead = newest.bytesRead + metrics.fold(0L)(_.inputMetrics.bytesRead),
        bytesWritten = newest.bytesWritten + metrics.fold(0L)(_.outputMetrics.bytesWritten)
      )
    }
  }

  override def onJobEnd(event: SparkListenerJobEnd): Unit = synchronized {
    running.get(event.jobId).filter(_.activity == newest.number).foreach { job =>
      // The open tasks of a job that has succeeded belong to stages that Spark has skipped.
      val skipped = if (event.jobResult == JobSucceeded) job.openTasks else 0
      newest = newest.copy(tasks = newest.tasks - skipped, runningJobs = newest.runningJobs - 1)
    }
    running -= event.jobId
  }
}

private object JobProgress {

  /**
   * A job that has not ended.
   *
   * @param activity the number of its activity
   * @param stages the ids of its stages
   * @param openTasks the number of its tasks that have not succeeded
   */
  final case class RunningJob(activity: Int, stages: Set[Int], openTasks: Int)
}
