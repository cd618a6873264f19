package iceberglite.catalog.hive

import java.util.concurrent.{Executors, ScheduledExecutorService, ScheduledFuture, ThreadFactory, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

import iceberglite.table.Cleanup

/** Background tasks: renewing locks and closing idle connections. */
private[hive] object HiveTimers {

  /** More than one, because a blocked heartbeat must not delay others. */
  private val Threads = 2
  private val made = new AtomicInteger

  private val threads: ThreadFactory = { work =>
    val thread = new Thread(work, s"iceberg-lite-hive-${made.incrementAndGet()}")
    thread.setDaemon(true)
    thread
  }

  private lazy val timers: ScheduledExecutorService = Executors.newScheduledThreadPool(Threads, threads)

  def every(millis: Long, what: String)(work: => Unit): ScheduledFuture[_] =
    timers.scheduleWithFixedDelay(() => Cleanup.quietly(what)(work), millis / 2, millis, TimeUnit.MILLISECONDS)

  def once(millis: Long, what: String)(work: => Unit): Unit = {
    timers.schedule((() => Cleanup.quietly(what)(work)): Runnable, millis, TimeUnit.MILLISECONDS)
    ()
  }
}
