package iceberglite.storage

import java.util.concurrent.{ScheduledThreadPoolExecutor, ThreadFactory, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

/**
 * Creates threads that do not keep the JVM alive.
 *
 * @param name the name of the threads, to which a number is appended
 */
final private[iceberglite] class DaemonThreads(name: String) extends ThreadFactory {
  private val count = new AtomicInteger

  override def newThread(work: Runnable): Thread = {
    val thread = new Thread(work, s"iceberg-lite-$name-${count.incrementAndGet()}")
    thread.setDaemon(true)
    thread
  }
}

/**
 * Runs short work later in the background, such as dropping unused cached values. The whole JVM shares one thread,
 * which ends when it is idle. Three kinds of work do not use this thread. Operations on many files would delay other
 * work ([[iceberglite.tree.MetadataPool]]). The shutdown of the JVM waits for delayed writes ([[WriteBehind]]).
 * Heartbeats of locks must not be late ([[iceberglite.catalog.hive.HiveTimers]]).
 */
private[iceberglite] object BackgroundWork {
  private val IdleSeconds = 30L

  private lazy val timer: ScheduledThreadPoolExecutor = {
    val executor = new ScheduledThreadPoolExecutor(1, new DaemonThreads("timer"))
    executor.setKeepAliveTime(IdleSeconds, TimeUnit.SECONDS)
    executor.allowCoreThreadTimeOut(true)
    executor
  }

  /** Runs work once after a delay. The work must handle its own exceptions. @param delayMs the delay in milliseconds */
  def in(delayMs: Long)(work: => Unit): Unit = {
    timer.schedule((() => work): Runnable, delayMs, TimeUnit.MILLISECONDS)
    ()
  }
}
