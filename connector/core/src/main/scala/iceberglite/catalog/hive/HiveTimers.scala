package iceberglite.catalog.hive

import java.util.concurrent.{Executors, ScheduledExecutorService, ScheduledFuture, TimeUnit}

import iceberglite.storage.{BackgroundWork, DaemonThreads}
import iceberglite.table.Cleanup

/** Runs background tasks that renew locks and close idle connections. */
private[hive] object HiveTimers {

  /**
   * The number of threads for repeated work. These threads run only heartbeats, because a lock whose heartbeat is late
   * expires. More than one thread is needed, so that a blocked heartbeat does not delay other heartbeats.
   */
  private val Threads = 2
  private lazy val timers: ScheduledExecutorService =
    Executors.newScheduledThreadPool(Threads, new DaemonThreads("hive"))

  /**
   * Repeats work until it is cancelled.
   *
   * @param millis the interval in milliseconds; the first run starts after half of the interval
   */
  def every(millis: Long, what: String)(work: => Unit): ScheduledFuture[_] =
    timers.scheduleWithFixedDelay(() => Cleanup.quietly(what)(work), millis / 2, millis, TimeUnit.MILLISECONDS)

  /** Runs work once. @param millis the delay in milliseconds before the work starts */
  def once(millis: Long, what: String)(work: => Unit): Unit = BackgroundWork.in(millis)(Cleanup.quietly(what)(work))
}
