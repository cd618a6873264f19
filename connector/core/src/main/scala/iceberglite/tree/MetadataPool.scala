package iceberglite.tree

import java.security.{AccessController, PrivilegedAction}
import java.util.concurrent.{CountDownLatch, ExecutionException, FutureTask, LinkedBlockingQueue}
import java.util.concurrent.{ThreadFactory, ThreadPoolExecutor, TimeUnit}
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}

import scala.annotation.tailrec

/**
 * Work on many metadata files at once. Wider than the cores, as most of it waits for storage; the threads are shared
 * by the whole JVM, daemons, and end when idle.
 *
 * The calling thread works too, so that one item costs no hand-over, and a full pool, or a call from within the pool,
 * is only slower.
 */
object MetadataPool {

  /** The most items that are worked on at once. */
  val Width: Int = 16
  private val IdleSeconds = 30L

  private val inOrder = new ThreadLocal[Boolean] {
    override def initialValue: Boolean = false
  }

  private lazy val pool: ThreadPoolExecutor = {
    val number = new AtomicInteger
    val factory: ThreadFactory = { work =>
      val thread = new Thread(work, s"iceberg-lite-metadata-${number.incrementAndGet()}")
      thread.setDaemon(true)
      thread
    }
    val waiting = new LinkedBlockingQueue[Runnable]
    val made = new ThreadPoolExecutor(Width, Width, IdleSeconds, TimeUnit.SECONDS, waiting, factory)
    made.allowCoreThreadTimeOut(true)
    made
  }

  /**
   * `items.map(f)`, in the order of the items. The first failure is thrown, once nothing of the call runs any more;
   * items that were not begun by then are left out.
   */
  def map[A, B](items: IndexedSeq[A])(f: A => B): Vector[B] =
    if (items.size <= 1 || inOrder.get) items.iterator.map(f).toVector else new Run(items, f).results()

  /** Runs `body` without other threads, so that what this one asks of the storage comes in the same order every time. */
  def alone[A](body: => A): A = {
    inOrder.set(true)
    try body
    finally inOrder.remove()
  }

  /** Begins some work, unless this thread is to do all in order: then it is done on return. */
  private[tree] def begin(body: => Unit): Begun = {
    val caller = AccessController.getContext
    val action: PrivilegedAction[Unit] = () => body
    val begun = new Begun(() => AccessController.doPrivileged(action, caller))
    if (inOrder.get) begun.settle() else pool.execute(() => begun.settle())
    begun
  }

  /** Work that some thread does, this one if no other has come to it: so a full pool holds nobody up. */
  final private[tree] class Begun(work: () => Unit) {
    private val task = new FutureTask[Unit](() => work())

    /** Returns when it is over, well or not. */
    def settle(): Unit = {
      task.run()
      outcome()
      ()
    }

    /** The same. @throws Throwable that the work has thrown */
    def await(): Unit = {
      settle()
      outcome().foreach(e => throw e)
    }

    /** Interrupted, it still waits: somebody may be writing a file that a clean-up must find. */
    private def outcome(): Option[Throwable] = {
      var interrupted = false
      @tailrec
      def look(): Option[Throwable] = {
        val seen =
          try {
            task.get()
            Some(None)
          } catch {
            case failed: ExecutionException => Some(Some(failed.getCause))
            case _: InterruptedException =>
              interrupted = true
              None
          }
        seen match {
          case Some(end) => end
          case None => look()
        }
      }
      try look()
      finally if (interrupted) Thread.currentThread.interrupt()
    }
  }

  final private class Run[A, B](items: IndexedSeq[A], f: A => B) {
    private val outcomes = new Array[Any](items.size)
    private val next = new AtomicInteger
    private val failure = new AtomicReference[Option[Throwable]](None)
    private val open = new CountDownLatch(items.size)

    def results(): Vector[B] = {
      // The storage may look at who is asking (Hadoop's doAs): that is the caller, not whoever started the thread.
      val caller = AccessController.getContext
      val helping: PrivilegedAction[Unit] = () => work()
      (1 until math.min(items.size, Width)).foreach { _ =>
        pool.execute(() => AccessController.doPrivileged(helping, caller))
      }
      work()
      awaitOthers()
      failure.get.foreach(e => throw e)
      // Safe: every element was put there by `f`, and the latch makes it visible.
      outcomes.iterator.map(_.asInstanceOf[B]).toVector
    }

    private def work(): Unit = {
      var i = next.getAndIncrement()
      while (i < items.size) {
        try if (failure.get.isEmpty) outcomes(i) = f(items(i))
        catch { case e: Throwable => failure.compareAndSet(None, Some(e)) }
        finally open.countDown()
        i = next.getAndIncrement()
      }
    }

    /** Interrupted, it still waits for what others began: they may be writing files that a clean-up must find. */
    private def awaitOthers(): Unit =
      try open.await()
      catch {
        case e: InterruptedException =>
          failure.compareAndSet(None, Some(e))
          open.await()
      }
  }
}
