package iceberglite.tree

import java.security.{AccessController, PrivilegedAction}
import java.util.concurrent.{CountDownLatch, LinkedBlockingQueue, ThreadFactory, ThreadPoolExecutor, TimeUnit}
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}

/**
 * Work on many metadata files at once. Wider than the cores, as most of it waits for storage; the threads are shared
 * by the whole JVM, daemons, and end when idle.
 *
 * The calling thread works too, so that one item costs no hand-over, and a full pool, or a call from within the pool,
 * is only slower.
 */
object InParallel {
  private val Width = 16
  private val IdleSeconds = 30L

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
    if (items.size <= 1) items.iterator.map(f).toVector else new Run(items, f).results()

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
