package iceberglite.storage

import java.security.{AccessController, PrivilegedAction}
import java.util.concurrent.{ScheduledThreadPoolExecutor, ThreadFactory, ThreadPoolExecutor, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

import scala.util.Try

import org.apache.hadoop.util.ShutdownHookManager

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

private[iceberglite] object DaemonThreads {

  /** Maximum time in seconds for which the shutdown of the JVM waits for work if the storage does not respond. */
  private val ShutdownSeconds = 10L

  /**
   * Priority of the shutdown hook. It must be higher than 10, the priority with which Hadoop closes its file systems.
   */
  private val HookPriority = 20

  /**
   * Lets the threads of a pool end when they are idle. They do not keep the JVM alive, but its shutdown waits for their
   * work. Once the shutdown has begun, the pool rejects new work.
   */
  def finishAtShutdown[E <: ThreadPoolExecutor](executor: E): E = {
    executor.allowCoreThreadTimeOut(true)
    val hook: Runnable = () => {
      executor.shutdown()
      executor.awaitTermination(ShutdownSeconds, TimeUnit.SECONDS)
      ()
    }
    if (Try(ShutdownHookManager.get.addShutdownHook(hook, HookPriority)).isFailure) executor.shutdown()
    executor
  }

  /**
   * Returns work that runs as the calling user (Hadoop's doAs) in any thread, and not as the user that started the
   * thread.
   */
  def asCaller(work: () => Unit): () => Unit = {
    val caller = AccessController.getContext
    val action: PrivilegedAction[Unit] = () => work()
    () => AccessController.doPrivileged(action, caller)
  }
}

/**
 * Runs short work later in the background, such as dropping unused cached values. The whole JVM shares one thread,
 * which ends when it is idle. Four kinds of work do not use this thread. Operations on many files would delay other
 * work ([[iceberglite.tree.MetadataPool]]). The shutdown of the JVM waits for delayed writes ([[WriteBehind]])
 * and for the clean-up after commits ([[iceberglite.table.CommitCleanup]]).
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
