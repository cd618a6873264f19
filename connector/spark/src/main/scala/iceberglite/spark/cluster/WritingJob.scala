package iceberglite.spark.cluster

import java.util.concurrent.TimeUnit

import scala.annotation.tailrec
import scala.collection.mutable
import scala.concurrent.Await
import scala.concurrent.duration.Duration

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
      val run = (elements: Iterator[A]) => task(TaskContext.get, elements)
      val job = context.submitJob[A, Array[Byte], Unit](rdd, run, rdd.partitions.indices, addResult, ())
      try Await.result(job, Duration.Inf)
      catch {
        case e: Throwable =>
          if (!context.isStopped) {
            job.cancel()
            awaitTasks(tasks, _ => job.jobIds.toSet)
          }
          throw e
      }
    } finally context.removeSparkListener(tasks)
  }

  /**
   * Runs work that begins Spark jobs with a job tag, and cancels them after an error. If the work fails, this method
   * waits until the tasks of these jobs have ended, so that they write no more files. It waits for at most a minute.
   */
  def awaitingTasks[A](context: SparkContext, tag: String)(work: => A): A = {
    val tasks = new RunningTasks
    context.addSparkListener(tasks)
    try work
    catch {
      case e: Throwable =>
        if (!context.isStopped) {
          val marker = emptyJob(context)
          awaitTasks(tasks, _.jobsWith(tag) ++ marker)
        }
        throw e
    } finally context.removeSparkListener(tasks)
  }

  /**
   * Begins a job without tasks, and returns its id. When a listener has seen its end, the listener has also seen the
   * starts of all earlier jobs: Spark calls listeners later, in the order of the events.
   */
  private def emptyJob(context: SparkContext): Seq[Int] = {
    val nothing = (_: Iterator[Int]) => ()
    context.submitJob[Int, Unit, Unit](context.emptyRDD[Int], nothing, Nil, (_, _) => (), ()).jobIds
  }

  private def awaitTasks(tasks: RunningTasks, jobs: RunningTasks => Set[Int]): Unit = {
    // An interrupt before the wait is one of the reasons to wait.
    val wasInterrupted = Thread.interrupted()
    try
      if (!tasks.awaitEnd(jobs, TimeUnit.SECONDS.toNanos(MaxWaitSeconds)))
        log.warn(s"Tasks of a failed job are still running after $MaxWaitSeconds seconds, and may leave orphan files")
    catch {
      // An interrupt during the wait ends it.
      case _: InterruptedException => Thread.currentThread.interrupt()
    } finally if (wasInterrupted) Thread.currentThread.interrupt()
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

  /** Waits until jobs and their tasks have ended. @return whether they ended within the time */
  def awaitEnd(jobs: RunningTasks => Set[Int], nanos: Long): Boolean =
    synchronized(await(jobs, System.nanoTime + nanos))

  @tailrec
  private def await(jobs: RunningTasks => Set[Int], deadline: Long): Boolean = {
    val left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime)
    if (hasEnded(jobs(this)) || left <= 0) hasEnded(jobs(this))
    else {
      wait(left)
      await(jobs, deadline)
    }
  }

  private def hasEnded(jobs: Set[Int]): Boolean =
    jobs.subsetOf(ended) && jobs.forall(stages.getOrElse(_, Nil).forall(running(_) == 0))
}
