package iceberglite.catalog.hive

import java.util.concurrent.{Executors, ScheduledExecutorService, ScheduledFuture, TimeUnit}

import iceberglite.storage.DaemonThreads
import iceberglite.table.Cleanup

/** Background tasks: renewing locks and closing idle connections. */
private[hive] object HiveTimers {

  /** The number of threads. There are several, because a blocked heartbeat must not delay other heartbeats. */
  private val Threads = 2
  private lazy val timers: ScheduledExecutorService =
    Executors.newScheduledThreadPool(Threads, new DaemonThreads("hive"))

  /** Repeats work until it is cancelled. @param millis the interval; the first run is after half of it */
  def every(millis: Long, what: String)(work: => Unit): ScheduledFuture[_] =
    timers.scheduleWithFixedDelay(() => Cleanup.quietly(what)(work), millis / 2, millis, TimeUnit.MILLISECONDS)

  /** Runs work once. @param millis the delay */
  def once(millis: Long, what: String)(work: => Unit): Unit = {
    timers.schedule((() => Cleanup.quietly(what)(work)): Runnable, millis, TimeUnit.MILLISECONDS)
    ()
  }
}
