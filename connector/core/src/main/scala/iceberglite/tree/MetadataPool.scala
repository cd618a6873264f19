package iceberglite.tree

import java.util.concurrent.{CountDownLatch, ExecutionException, FutureTask, LinkedBlockingQueue}
import java.util.concurrent.{ThreadPoolExecutor, TimeUnit}
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}

import scala.annotation.tailrec

import iceberglite.storage.DaemonThreads

/** Runs operations on many metadata files. The implementation determines how many of them run at the same time. */
trait MetadataPool {

  /**
   * Returns `items.map(f)` in the order of the items. On failure, the first exception is thrown after all running items
   * of the call have ended; items that have not started are skipped.
   *
   * @param width the maximum number of items of this call that are processed at the same time
   */
  def map[A, B](items: IndexedSeq[A], width: Int = MetadataPool.Width)(f: A => B): Vector[B]

  /** Starts an operation, possibly in the background. */
  private[iceberglite] def submit(body: => Unit): MetadataPool.Submitted
}

/**
 * The pool that all tables use. It runs operations in parallel. The number of threads does not depend on the number of
 * cores, because most operations wait for storage. The threads are daemons, are shared by the whole JVM, and end when
 * idle.
 *
 * The calling thread also processes items. Therefore a single item is processed without the pool, and a call does not
 * block if the pool is busy or if the call comes from a pool thread.
 */
object MetadataPool extends MetadataPool {

  /**
   * The number of threads of the pool, and the maximum number of items of one call that are processed at the same time.
   */
  val Width: Int = 16
  private val IdleSeconds = 30L

  private lazy val pool: ThreadPoolExecutor = {
    val waiting = new LinkedBlockingQueue[Runnable]
    val executor =
      new ThreadPoolExecutor(Width, Width, IdleSeconds, TimeUnit.SECONDS, waiting, new DaemonThreads("metadata"))
    executor.allowCoreThreadTimeOut(true)
    executor
  }

  override def map[A, B](items: IndexedSeq[A], width: Int)(f: A => B): Vector[B] = {
    val reported = WorkProgress.reported(items, f)
    if (items.size <= 1 || width <= 1) items.iterator.map(reported).toVector
    else new Run(items, math.min(width, Width), reported).results()
  }

  override private[iceberglite] def submit(body: => Unit): Submitted = {
    val submitted = new Submitted(DaemonThreads.asCaller(() => body))
    pool.execute(() => submitted.awaitQuietly())
    submitted
  }

  /**
   * An operation that is run by a pool thread or, if no pool thread has started it yet, by the thread that waits for
   * it. Therefore waiting does not block if the pool is busy.
   */
  final private[iceberglite] class Submitted(work: () => Unit) {
    private val task = new FutureTask[Unit](() => work())

    /** Returns when the operation has ended, successfully or not. */
    def awaitQuietly(): Unit = {
      task.run()
      outcome()
      ()
    }

    /**
     * Returns when the operation has ended, successfully or not.
     *
     * @throws InterruptedException if the thread is interrupted while another thread runs the operation. The operation
     *   continues
     */
    def awaitInterruptibly(): Unit = {
      task.run()
      try task.get()
      catch { case _: ExecutionException => () }
    }

    /**
     * Returns when the operation has ended.
     *
     * @throws Throwable if the operation failed: the exception of the operation itself
     */
    def await(): Unit = {
      awaitQuietly()
      outcome().foreach(e => throw e)
    }

    /**
     * Waits for the end of the operation and returns its failure, if any. An interrupted thread continues to wait,
     * because a cleanup after the failure must find the file that another thread may still be writing.
     */
    private def outcome(): Option[Throwable] = {
      var interrupted = false
      @tailrec
      def awaitTask(): Option[Throwable] = {
        val ended =
          try {
            task.get()
            Some(None)
          } catch {
            case failed: ExecutionException => Some(Some(failed.getCause))
            case _: InterruptedException =>
              interrupted = true
              None
          }
        ended match {
          case Some(failure) => failure
          case None => awaitTask()
        }
      }
      try awaitTask()
      finally if (interrupted) Thread.currentThread.interrupt()
    }
  }

  /** A call of [[map]]. */
  final private class Run[A, B](items: IndexedSeq[A], width: Int, f: A => B) {
    private val outcomes = new Array[Any](items.size)
    private val next = new AtomicInteger
    private val failure = new AtomicReference[Option[Throwable]](None)
    private val unfinished = new CountDownLatch(items.size)

    def results(): Vector[B] = {
      // Storage access may depend on the caller's identity (Hadoop's doAs). Therefore the items run with the caller's
      // context, and not with that of the thread that created the pool thread.
      val asCaller = DaemonThreads.asCaller(() => work())
      (1 until math.min(items.size, width)).foreach(_ => pool.execute(() => asCaller()))
      work()
      awaitOthers()
      failure.get.foreach(e => throw e)
      // The cast is safe, because every element is a result of `f`. The latch makes the elements visible to this
      // thread.
      outcomes.iterator.map(_.asInstanceOf[B]).toVector
    }

    private def work(): Unit = {
      var i = next.getAndIncrement()
      while (i < items.size) {
        try if (failure.get.isEmpty) outcomes(i) = f(items(i))
        catch { case e: Throwable => failure.compareAndSet(None, Some(e)) }
        finally unfinished.countDown()
        i = next.getAndIncrement()
      }
    }

    /**
     * Waits for the items that other threads process. An interrupted thread continues to wait, because a cleanup after
     * the failure must find the files that other threads may still be writing.
     */
    @tailrec
    private def awaitOthers(): Unit = {
      try unfinished.await()
      catch {
        case e: InterruptedException =>
          failure.compareAndSet(None, Some(e))
          ()
      }
      if (unfinished.getCount > 0) awaitOthers()
    }
  }
}
