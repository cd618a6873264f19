package iceberglite.spark.cluster

import java.util.concurrent.TimeUnit

import scala.annotation.tailrec
import scala.collection.mutable
import scala.concurrent.Await
import scala.concurrent.duration.Duration
import scala.util.control.NonFatal

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.scheduler.{
  SparkListener,
  SparkListenerJobEnd,
  SparkListenerJobStart,
  SparkListenerTaskEnd,
  SparkListenerTaskStart
}
import org.slf4j.LoggerFactory

/** Runs Spark jobs whose tasks write files. If such a job fails, the caller removes the files. */
private[iceberglite] object WritingJob {
  private val log = LoggerFactory.getLogger("iceberglite.spark.cluster.WritingJob")

  /** The maximum time to wait for the tasks of a failed job, because a task may not react to its cancellation. */
  private val MaxWaitSeconds = 60L

  /**
   * Runs a job that computes all partitions of an RDD. If the job fails or the calling thread is interrupted, the job
   * is cancelled. The method then waits until the tasks have ended, so that they write no more files, and throws the
   * error. It waits for at most a minute.
   *
   * @param task writes files for the elements of a partition, and returns its serialized result
   * @param addResult called with the index of a partition and the result of its task. Calls do not overlap
   */
  def run[A](context: SparkContext, rdd: RDD[A], task: (TaskContext, Iterator[A]) => Array[Byte])(
      addResult: (Int, Array[Byte]) => Unit
  ): Unit = {
    val tasks = new RunningTasks
    context.addSparkListener(tasks)
    try {
      val run = (elements: Iterator[A]) => task(TaskContext.get(), elements)
      val job = context.submitJob[A, Array[Byte], Unit](rdd, run, rdd.partitions.indices, addResult, ())
      try Await.result(job, Duration.Inf)
      catch {
        case e: Throwable =>
          job.cancel()
          awaitTasks(context, tasks, e)(job.jobIds.toSet)
          throw e
      }
    } finally context.removeSparkListener(tasks)
  }

  /**
   * Runs work that begins Spark jobs with a job tag. If the work fails, this method cancels these jobs, and waits until
   * their tasks have ended, so that they write no more files. It waits for at most a minute.
   *
   * @param work when it returns or throws an error, it begins no more jobs
   */
  def awaitingTasks[A](context: SparkContext, tag: String)(work: => A): A = {
    val tasks = new RunningTasks
    context.addSparkListener(tasks)
    try work
    catch {
      case e: Throwable =>
        awaitTasks(context, tasks, e) {
          // An interrupt ends the wait for a job, but not the job, which may have begun after an earlier cancellation.
          context.cancelJobsWithTag(tag)
          tasks.jobsWith(tag)
        }
        throw e
    } finally context.removeSparkListener(tasks)
  }

  /**
   * Waits after an error until cancelled jobs and their tasks have ended. Interrupts do not end the wait: a caller that
   * stops a statement often cancels its jobs first and interrupts its thread a moment later.
   *
   * @param jobs the cancelled jobs, computed when the listener has received the start of all of them
   */
  private def awaitTasks(context: SparkContext, tasks: RunningTasks, error: Throwable)(jobs: => Set[Int]): Unit =
    try {
      val deadline = System.nanoTime + TimeUnit.SECONDS.toNanos(MaxWaitSeconds)
      if (!(context.isStopped || awaitScheduler(context, tasks, deadline) && awaitEnd(context, tasks, jobs, deadline)))
        log.warn(s"Tasks of a failed job are still running after $MaxWaitSeconds seconds, and may leave orphan files")
    } catch {
      // Spark begins no job while its context stops.
      case NonFatal(e) => error.addSuppressed(e)
    }

  /**
   * Waits until jobs have ended, and then until none of their tasks is running. In between, the method waits for all
   * events of the scheduler, because it may report the start of a task after the end of the task's cancelled job.
   */
  private def awaitEnd(context: SparkContext, tasks: RunningTasks, jobs: Set[Int], deadline: Long): Boolean =
    tasks.await(tasks.haveEnded(jobs), deadline) && awaitScheduler(context, tasks, deadline) &&
      tasks.await(tasks.areIdle(jobs), deadline)

  /**
   * Waits until the listener has received all events that are in the queue of Spark's scheduler now. The scheduler
   * handles events in their order, so the start of a new job follows these events.
   */
  private def awaitScheduler(context: SparkContext, tasks: RunningTasks, deadline: Long): Boolean = {
    val nothing = (_: Iterator[Int]) => ()
    val marker =
      context.submitJob[Int, Unit, Unit](context.parallelize(Seq(0), 1), nothing, Seq(0), (_, _) => (), ())
    try tasks.await(marker.jobIds.forall(tasks.hasBegun), deadline)
    finally marker.cancel()
  }
}

/** Records which jobs have ended and how many of their tasks are running. */
final private class RunningTasks extends SparkListener {
  private val stages = mutable.Map.empty[Int, Seq[Int]]
  private val running = mutable.Map.empty[Int, Int].withDefaultValue(0)
  private val ended = mutable.Set.empty[Int]
  private val tags = mutable.Map.empty[Int, Set[String]]

  override def onJobStart(event: SparkListenerJobStart): Unit = synchronized {
    stages(event.jobId) = event.stageIds
    val text = Option(event.properties).flatMap(p => Option(p.getProperty("spark.job.tags")))
    tags(event.jobId) = text.fold(Set.empty[String])(_.split(',').toSet)
    notifyAll()
  }

  /** Returns the jobs with a job tag that have begun. */
  def jobsWith(tag: String): Set[Int] = synchronized(tags.collect { case (job, all) if all(tag) => job }.toSet)

  override def onTaskStart(event: SparkListenerTaskStart): Unit = add(event.stageId, 1)

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit = add(event.stageId, -1)

  override def onJobEnd(event: SparkListenerJobEnd): Unit = synchronized {
    ended += event.jobId
    notifyAll()
  }

  private def add(stage: Int, tasks: Int): Unit = synchronized {
    running(stage) += tasks
    notifyAll()
  }

  def hasBegun(job: Int): Boolean = synchronized(stages.contains(job))

  def haveEnded(jobs: Set[Int]): Boolean = synchronized(jobs.subsetOf(ended))

  /** Whether no task of the jobs is running. */
  def areIdle(jobs: Set[Int]): Boolean = synchronized(jobs.forall(stages.getOrElse(_, Nil).forall(running(_) == 0)))

  /**
   * Waits until a condition on these records holds. An interrupt does not end the wait; the thread is interrupted
   * afterwards.
   *
   * @param deadline when to stop waiting, by `System.nanoTime`
   * @return whether the condition holds
   */
  def await(condition: => Boolean, deadline: Long): Boolean =
    synchronized(await(() => condition, deadline, wasInterrupted = false))

  @tailrec
  private def await(condition: () => Boolean, deadline: Long, wasInterrupted: Boolean): Boolean = {
    val left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime)
    if (condition() || left <= 0) {
      if (wasInterrupted) Thread.currentThread.interrupt()
      condition()
    } else await(condition, deadline, isInterruptedWithin(left) || wasInterrupted)
  }

  private def isInterruptedWithin(millis: Long): Boolean =
    try {
      wait(millis)
      false
    } catch { case _: InterruptedException => true }
}
