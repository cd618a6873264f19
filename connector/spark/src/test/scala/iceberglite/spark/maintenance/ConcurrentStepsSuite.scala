package iceberglite.spark.maintenance

import java.util.concurrent.{CountDownLatch, CyclicBarrier, TimeUnit}
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}

import scala.concurrent.Await
import scala.concurrent.duration.Duration

import org.apache.spark.{FutureAction, TaskContext}
import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession
import iceberglite.spark.cluster.ClusterJob

/** Tests [[ConcurrentSteps]], which runs a function (the step) for each of several items in a few threads. */
class ConcurrentStepsSuite extends AnyFunSuite with SharedSession {
  import ConcurrentStepsSuite._

  test("as many steps as the limit run at the same time, and the results have the order of the items") {
    val barrier = new CyclicBarrier(2)
    val (running, most) = (new AtomicInteger, new AtomicInteger)
    val results = ConcurrentSteps.map(spark, Vector.range(0, 6), limit = 2) { item =>
      most.accumulateAndGet(running.incrementAndGet(), (a, b) => math.max(a, b))
      barrier.await(TimeoutSeconds, TimeUnit.SECONDS)
      running.decrementAndGet()
      item * 10
    }
    assert(results == Vector(0, 10, 20, 30, 40, 50) && most.get == 2)
  }

  test("with the limit 1, the steps run one after the other") {
    val order = new AtomicInteger
    val results = ConcurrentSteps.map(spark, Vector(1, 2, 3), limit = 1)(item => (item, order.incrementAndGet()))
    assert(results == Vector((1, 1), (2, 2), (3, 3)))
    assert(ConcurrentSteps.map(spark, Vector.empty[Int], limit = 1)(identity).isEmpty)
  }

  test("the jobs of the steps have the session and the job group of the caller") {
    val session = spark.newSession()
    spark.sparkContext.setJobGroup("the-group", "the description")
    try {
      val found = inSession(spark) { _ =>
        ConcurrentSteps.map(session, Vector(1, 2), limit = 2) { _ =>
          val context = session.sparkContext
          (context.getLocalProperty("spark.jobGroup.id"), SparkSession.getActiveSession.exists(_ eq session))
        }
      }
      assert(found == Vector(("the-group", true), ("the-group", true)))
      val descriptions = ClusterJob.withDescription(session.sparkContext, "a rewrite") {
        ConcurrentSteps.map(session, Vector(1, 2), 2)(_ =>
          session.sparkContext.getLocalProperty("spark.job.description")
        )
      }
      assert(descriptions == Vector("a rewrite", "a rewrite"))
    } finally spark.sparkContext.clearJobGroup()
  }

  /** Submits a Spark job that ends only when it is cancelled. */
  private def submitEndlessJob(): FutureAction[Unit] =
    spark.sparkContext.parallelize(Seq(1), 1).foreachAsync { _ =>
      jobStarted.get.countDown()
      while (!TaskContext.get.isInterrupted) Thread.`yield`()
    }

  private def endlessJob(): Unit = Await.result(submitEndlessJob(), Duration.Inf)

  private def awaitJob(): Unit = assert(jobStarted.get.await(TimeoutSeconds, TimeUnit.SECONDS))

  test("the first error cancels the jobs of the other steps, and no step begins after it") {
    jobStarted.set(new CountDownLatch(1))
    val (started, ended) = (new AtomicInteger, new AtomicInteger)
    val error = intercept[IllegalStateException] {
      ConcurrentSteps.map(spark, Vector.range(0, 5), limit = 2) { item =>
        started.incrementAndGet()
        try if (item == 0) endlessJob()
          else {
            awaitJob()
            throw new IllegalStateException("the first error")
          }
        finally ended.incrementAndGet()
      }
    }
    assert(error.getMessage == "the first error" && started.get == 2 && ended.get == 2)
  }

  for (steps <- Seq(1, 2)) test(s"an interrupt of the caller cancels the jobs of $steps steps") {
    jobStarted.set(new CountDownLatch(1))
    val (begun, ended, error) = (new CountDownLatch(steps), new AtomicInteger, new AtomicReference[Throwable])
    val caller = new Thread(() =>
      try {
        ConcurrentSteps.map(spark, Vector.range(0, steps), limit = 2) { _ =>
          begun.countDown()
          try endlessJob()
          finally ended.incrementAndGet()
        }
        ()
      } catch { case e: Throwable => error.set(e) }
    )
    caller.start()
    assert(begun.await(TimeoutSeconds, TimeUnit.SECONDS))
    awaitJob()
    caller.interrupt()
    caller.join(TimeUnit.SECONDS.toMillis(TimeoutSeconds))
    assert(error.get.isInstanceOf[InterruptedException] && ended.get == steps)
  }

  test("an interrupt of the caller also cancels a job that begins after the cancellation of the other jobs") {
    jobStarted.set(new CountDownLatch(1))
    val (waiting, lateJob) = (new CountDownLatch(1), new AtomicReference[FutureAction[Unit]])
    val caller = new Thread(() =>
      try ConcurrentSteps.map(spark, Vector(0), limit = 1) { _ =>
          waiting.countDown()
          try new CountDownLatch(1).await()
          catch {
            // Spark's own methods do this: an interrupt ends the wait for a submitted job, and the job goes on.
            case e: InterruptedException =>
              lateJob.set(submitEndlessJob())
              throw e
          }
        }
      catch { case _: InterruptedException => }
    )
    caller.start()
    assert(waiting.await(TimeoutSeconds, TimeUnit.SECONDS))
    caller.interrupt()
    caller.join(TimeUnit.SECONDS.toMillis(TimeoutSeconds))
    assert(lateJob.get.isCompleted)
  }

  test("an interrupt of the caller also ends steps that wait without a job") {
    val (waiting, released) = (new CountDownLatch(2), new CountDownLatch(1))
    val (interrupted, started) = (new AtomicInteger, new AtomicInteger)
    val caller = new Thread(() =>
      try {
        ConcurrentSteps.map(spark, Vector(0, 1, 2), limit = 2) { _ =>
          started.incrementAndGet()
          waiting.countDown()
          try released.await()
          catch {
            case e: InterruptedException =>
              interrupted.incrementAndGet()
              throw e
          }
        }
        ()
      } catch { case _: InterruptedException => }
    )
    caller.start()
    try {
      assert(waiting.await(TimeoutSeconds, TimeUnit.SECONDS))
      caller.interrupt()
      caller.join(TimeUnit.SECONDS.toMillis(TimeoutSeconds))
      assert(!caller.isAlive && interrupted.get == 2 && started.get == 2)
    } finally released.countDown()
  }
}

private object ConcurrentStepsSuite {
  private val TimeoutSeconds = 60L

  /** Released when the task of the endless job has begun. Tasks run in this JVM, so they share this object. */
  private val jobStarted = new AtomicReference(new CountDownLatch(1))
}
