package iceberglite.spark.maintenance

import java.util.UUID
import java.util.concurrent.{ExecutorService, Executors, TimeUnit}
import java.util.concurrent.atomic.AtomicReference

import scala.annotation.tailrec

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.SQLExecution

import iceberglite.spark.cluster.WritingJob

/**
 * Runs steps of a rewrite in threads.
 *
 * @param limit maximum number of steps that run at the same time
 */
final private class ConcurrentSteps[A, B](session: SparkSession, limit: Int, step: A => B) {
  import ConcurrentSteps._

  private val context = session.sparkContext

  /** The job tag of all Spark jobs of these steps. */
  private val tag = s"iceberg-lite-${UUID.randomUUID}"
  private val firstError = new AtomicReference(Option.empty[Throwable])

  def run(items: Vector[A]): Vector[B] = WritingJob.awaitingTasks(context, tag) {
    val pool = Executors.newFixedThreadPool(math.min(limit, items.size))
    val results =
      try items.map(item => SQLExecution.withThreadLocalCaptured(session, pool)(attempt(item)))
      finally pool.shutdown()
    await(pool)
    firstError.get.foreach(e => throw e)
    results.flatMap(_.get)
  }

  private def attempt(item: A): Option[B] =
    if (firstError.get.isDefined) None
    else {
      context.addJobTag(tag)
      try Some(step(item))
      catch {
        case e: Throwable =>
          fail(e)
          None
      } finally context.removeJobTag(tag)
    }

  private def fail(e: Throwable): Unit = {
    firstError.compareAndSet(None, Some(e))
    ()
  }

  /**
   * Waits until all steps have ended. After an error, this method cancels the jobs of the steps repeatedly, because a
   * step may begin another job. It passes an interrupt on to the threads of the steps, because a step may be waiting
   * without a running job, for example before it retries a commit.
   */
  @tailrec
  private def await(pool: ExecutorService): Unit = {
    val hasEnded =
      try pool.awaitTermination(CheckMillis, TimeUnit.MILLISECONDS)
      catch {
        case e: InterruptedException =>
          fail(e)
          cancelJobs()
          pool.shutdownNow()
          false
      }
    if (!hasEnded) {
      if (firstError.get.isDefined) cancelJobs()
      await(pool)
    }
  }

  private def cancelJobs(): Unit = if (!context.isStopped) context.cancelJobsWithTag(tag)
}

private[maintenance] object ConcurrentSteps {

  /** The interval between checks for a failed step, in milliseconds. */
  private val CheckMillis = 100L

  /**
   * Runs a step for each item. The threads have the local properties of the calling thread, such as the job group.
   *
   * After the first error or an interrupt of the calling thread, no further step begins, and the Spark jobs of the
   * running steps are cancelled. An interrupt also interrupts the threads of the running steps. The method returns only
   * when no step is running. After an error, it also waits for at most a minute until the Spark tasks of the steps have
   * ended, so that the caller can then remove the files of the steps.
   *
   * @param limit maximum number of steps that run at the same time
   * @return the results in the order of the items
   * @throws Throwable if a step failed: the first error
   */
  def map[A, B](session: SparkSession, items: Vector[A], limit: Int)(step: A => B): Vector[B] =
    if (items.isEmpty) Vector.empty else new ConcurrentSteps(session, limit, step).run(items)
}
