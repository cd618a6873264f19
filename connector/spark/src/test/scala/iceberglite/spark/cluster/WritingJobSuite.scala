package iceberglite.spark.cluster

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}

import scala.collection.JavaConverters._

import org.apache.spark.{SparkException, TaskContext}
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart}
import org.apache.spark.sql.iceberglite.TaskCommit
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession

/** Tests [[WritingJob]], which runs Spark jobs whose tasks write files. */
class WritingJobSuite extends AnyFunSuite with SharedSession {
  import WritingJobSuite._

  /** Runs a job whose tasks return the number of their partition. */
  private def run(partitions: Int, task: Int => Unit)(addResult: (Int, Array[Byte]) => Unit): Unit = {
    val rdd = spark.sparkContext.parallelize(0 until partitions, partitions)
    val write = (_: TaskContext, numbers: Iterator[Int]) => {
      val number = numbers.next()
      task(number)
      Array(number.toByte)
    }
    WritingJob.run(spark.sparkContext, rdd, write)(addResult)
  }

  test("each result is reported with the index of its partition") {
    val results = new ConcurrentLinkedQueue[(Int, Int)]
    run(3, _ => ()) { (partition, result) =>
      results.add((partition, result.head.toInt))
      ()
    }
    assert(results.asScala.toSet == Set((0, 0), (1, 1), (2, 2)))
  }

  /** Runs a job whose first task ends only after the job was cancelled, and whose other tasks fail. */
  private def runUntilCancelled(partitions: Int): Unit =
    run(partitions, WritingJobSuite.task(_))((_, _) => ())

  private def reset(): Unit = {
    Seq(started, cancelled, release).foreach(_.set(new CountDownLatch(1)))
    Seq(ended, denied).foreach(_.set(0))
  }

  test("after an interrupt, no task is running any more, and the cancelled task is not allowed to commit its files") {
    reset()
    val error = new AtomicReference[(Throwable, Int)]
    val caller = new Thread(() =>
      try runUntilCancelled(1)
      catch { case e: Throwable => error.set((e, ended.get)) }
    )
    caller.start()
    assert(started.get.await(TimeoutSeconds, TimeUnit.SECONDS))
    caller.interrupt()
    caller.join(TimeUnit.SECONDS.toMillis(TimeoutSeconds))
    val (thrown, endedTasks) = error.get
    assert(thrown.isInstanceOf[InterruptedException] && endedTasks == 1 && denied.get == 1)
  }

  test("an interrupt that follows the cancellation of the job does not end the wait for its tasks") {
    reset()
    val context = spark.sparkContext
    val error = new AtomicReference[(Throwable, Int, Boolean)]
    val caller = new Thread(() => {
      context.setJobGroup("cancelled-first", "a job that is cancelled")
      try run(1, WritingJobSuite.slowToEnd(_))((_, _) => ())
      catch { case e: Throwable => error.set((e, ended.get, Thread.currentThread.isInterrupted)) }
    })
    caller.start()
    assert(started.get.await(TimeoutSeconds, TimeUnit.SECONDS))
    context.cancelJobGroup("cancelled-first")
    assert(cancelled.get.await(TimeoutSeconds, TimeUnit.SECONDS))
    // The caller waits for its job without a time limit, and for the tasks of the cancelled job with a limit.
    val deadline = System.nanoTime + TimeUnit.SECONDS.toNanos(TimeoutSeconds)
    while (caller.getState != Thread.State.TIMED_WAITING && System.nanoTime < deadline) Thread.sleep(1)
    (1 to 10).foreach { _ =>
      caller.interrupt()
      Thread.sleep(10)
    }
    release.get.countDown()
    caller.join(TimeUnit.SECONDS.toMillis(TimeoutSeconds))
    val (_, endedTasks, isInterrupted) = error.get
    assert(endedTasks == 1 && isInterrupted)
  }

  test("after a task has failed, no other task is running any more") {
    reset()
    val error = intercept[SparkException](runUntilCancelled(2))
    assert(ended.get == 1 && error.getMessage.contains("the first error"))
  }

  test("the error of work that started a job is thrown after the job's tasks have ended, even if listeners are slow") {
    reset()
    val context = spark.sparkContext
    val late = new SparkListener {
      override def onJobStart(event: SparkListenerJobStart): Unit = Thread.sleep(300)
    }
    val write = (_: Iterator[Int]) => WritingJobSuite.task(0)
    context.addSparkListener(late)
    try {
      val error = intercept[IllegalStateException](WritingJob.awaitingTasks[Unit](context, "late-listeners") {
        context.addJobTag("late-listeners")
        val job =
          try context.submitJob[Int, Unit, Unit](context.parallelize(Seq(0), 1), write, Seq(0), (_, _) => (), ())
          finally context.removeJobTag("late-listeners")
        assert(started.get.await(TimeoutSeconds, TimeUnit.SECONDS))
        job.cancel()
        throw new IllegalStateException("the work failed")
      })
      assert(ended.get == 1 && error.getMessage == "the work failed")
    } finally context.removeSparkListener(late)
  }
}

private object WritingJobSuite {
  private val TimeoutSeconds = 60L

  /** Tasks run in this JVM, so they share these objects. */
  private val Seq(started, cancelled, release) = Seq.fill(3)(new AtomicReference(new CountDownLatch(1)))
  private val (ended, denied) = (new AtomicInteger, new AtomicInteger)

  /** A task that waits for its cancellation, and then for `release`, before it ends. */
  private def slowToEnd(partition: Int): Unit = {
    started.get.countDown()
    while (!TaskContext.get.isInterrupted) Thread.`yield`()
    cancelled.get.countDown()
    release.get.await(TimeoutSeconds, TimeUnit.SECONDS)
    ended.addAndGet(partition + 1)
    ()
  }

  private def task(partition: Int): Unit =
    if (partition == 0) {
      started.get.countDown()
      val context = TaskContext.get
      while (!context.isInterrupted) Thread.`yield`()
      try TaskCommit.require(context)
      catch {
        case e: Throwable =>
          denied.incrementAndGet()
          throw e
      } finally {
        ended.incrementAndGet()
        ()
      }
    } else {
      started.get.await(TimeoutSeconds, TimeUnit.SECONDS)
      throw new IllegalStateException("the first error")
    }
}
