package iceberglite.spark.cluster

import java.util.concurrent.CopyOnWriteArrayList

import scala.collection.JavaConverters._

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{
  JobSucceeded,
  SparkListener,
  SparkListenerJobEnd,
  SparkListenerJobStart,
  SparkListenerTaskEnd
}

import iceberglite.tree.WorkProgress

/**
 * Observes the jobs of a Spark application, and the work that the driver does without jobs, as activities
 * ([[JobActivity]]). The Python package shows each activity as a progress bar.
 */
final class JobProgress(private val context: SparkContext) extends SparkListener {
  import JobProgress._

  private var running = Map.empty[Int, RunningJob]

  /** The latest activities, oldest first. Older activities are removed. */
  private var activities = Vector.empty[JobActivity]
  private var dropped = 0

  def start(): Unit = {
    context.addSparkListener(this)
    observers.add(this)
    ()
  }

  def stop(): Unit = {
    observers.remove(this)
    context.removeSparkListener(this)
  }

  /**
   * Returns an activity, which may have ended; `null` if it has not begun, or has been removed.
   *
   * @param number 1 for the first activity
   */
  def activity(number: Int): JobActivity = synchronized(activities.lift(number - 1 - dropped).orNull)

  /**
   * Returns the next activity that has not been removed; `null` if no later activity has begun.
   *
   * @param number the number of an activity that may have been removed; 0 for the first of all
   */
  def following(number: Int): JobActivity = synchronized(activities.lift(math.max(0, number - dropped)).orNull)

  override def onJobStart(event: SparkListenerJobStart): Unit = synchronized {
    val described = Option(event.properties).flatMap(p => Option(p.getProperty(ClusterJob.Description)))
    val lastStage = if (event.stageInfos.isEmpty) None else Some(event.stageInfos.maxBy(_.stageId))
    val description = described.orElse(lastStage.map(_.name)).getOrElse("")
    val tasks = event.stageInfos.map(_.numTasks).sum
    val number = activityOf(description)
    update(number)(a => a.copy(tasks = a.tasks + tasks, runningJobs = a.runningJobs + 1))
    running += event.jobId -> RunningJob(number, event.stageIds.toSet, tasks)
  }

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit = synchronized {
    running.find(_._2.stages.contains(event.stageId)).filter(_ => event.taskInfo.successful).foreach { case (id, job) =>
      running += id -> job.copy(openTasks = job.openTasks - 1)
      val metrics = Option(event.taskMetrics)
      update(job.activity) { a =>
        a.copy(
          completedTasks = a.completedTasks + 1,
          bytesRead = a.bytesRead + metrics.fold(0L)(_.inputMetrics.bytesRead),
          bytesWritten = a.bytesWritten + metrics.fold(0L)(_.outputMetrics.bytesWritten)
        )
      }
    }
  }

  override def onJobEnd(event: SparkListenerJobEnd): Unit = synchronized {
    running.get(event.jobId).foreach { job =>
      // Tasks that have not run although the job has succeeded belong to stages that Spark has skipped.
      val skipped = if (event.jobResult == JobSucceeded) job.openTasks else 0
      update(job.activity)(a => a.copy(tasks = a.tasks - skipped, runningJobs = a.runningJobs - 1))
    }
    running -= event.jobId
  }

  /** Records that the driver begins to process files. */
  private def beginDriverWork(description: String, files: Int): Unit = synchronized {
    update(activityOf(description))(a => a.copy(tasks = a.tasks + files))
  }

  /** Records that the driver has processed a file. */
  private def completeDriverWork(description: String, bytes: Long): Unit = synchronized {
    activities.reverseIterator.find(_.description == description).foreach { activity =>
      update(activity.number)(a => a.copy(completedTasks = a.completedTasks + 1, bytesRead = a.bytesRead + bytes))
    }
  }

  /**
   * Returns the number of the activity with a description: the last activity if it has this description; otherwise, a
   * running activity with this description; otherwise, a new activity.
   */
  private def activityOf(description: String): Int = activities.lastOption.filter(_.description == description)
    .orElse(activities.find(a => a.description == description && a.runningJobs > 0))
    .fold(begin(description))(_.number)

  private def begin(description: String): Int = {
    val number = dropped + activities.size + 1
    activities :+= JobActivity(number, description, 0, 0, 0, 0, 0)
    if (activities.size > MaxActivities) {
      activities = activities.tail
      dropped += 1
    }
    number
  }

  private def update(number: Int)(change: JobActivity => JobActivity): Unit = {
    val index = number - 1 - dropped
    if (index >= 0) activities = activities.updated(index, change(activities(index)))
  }
}

private[cluster] object JobProgress {
  private val observers = new CopyOnWriteArrayList[JobProgress]

  /** Runs work, and reports the metadata files that the driver processes to the observers of an application. */
  def reportDriverWork[A](context: SparkContext, description: String)(work: => A): A = {
    val progress = new WorkProgress {
      private def observersOfContext = observers.asScala.filter(_.context eq context)
      override def begin(items: Int): Unit = observersOfContext.foreach(_.beginDriverWork(description, items))
      override def completed(bytes: Long): Unit = observersOfContext.foreach(_.completeDriverWork(description, bytes))
    }
    WorkProgress.within(progress)(work)
  }

  /** The maximum number of activities that are kept, so that the Python package can show them. */
  private val MaxActivities = 1000

  /**
   * A Spark job that has not ended.
   *
   * @param activity the number of the job's activity
   * @param stages the ids of the job's stages
   * @param openTasks the number of the job's tasks that have not succeeded
   */
  final case class RunningJob(activity: Int, stages: Set[Int], openTasks: Int)
}
