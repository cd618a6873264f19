package iceberglite.io

import java.security.{AccessController, PrivilegedAction}
import java.util.LinkedHashMap
import java.util.concurrent.{RejectedExecutionException, ScheduledThreadPoolExecutor, ThreadFactory, TimeUnit}

import scala.annotation.tailrec
import scala.util.Try
import scala.util.control.NonFatal

import org.apache.hadoop.util.ShutdownHookManager
import org.slf4j.LoggerFactory

/**
 * Small files that are written a moment later, while their writers go on. Of several contents of one file within that
 * moment the last is written, and whoever asks here sees it at once. A write that fails is a line in the log.
 *
 * @param write replaces a file
 */
final private[io] class WriteBehind(write: (String, Array[Byte]) => Unit) {
  private val waiting = new LinkedHashMap[String, Array[Byte]]
  private var running = Option.empty[(String, Array[Byte])]
  private var atWork = false

  def put(path: String, contents: Array[Byte]): Unit = {
    val idle = synchronized {
      waiting.put(path, contents)
      val was = !atWork
      atWork = true
      was
    }
    if (idle) WriteBehind.run(() => drain())
  }

  /** What is not written yet of a file. */
  def contentsOf(path: String): Option[Array[Byte]] = synchronized {
    Option(waiting.get(path)).orElse(running.filter(_._1 == path).map(_._2))
  }

  /** Forgets what waits for a file, or for the files below a directory, and returns when none of it is being written. */
  def forget(path: String): Unit = {
    val below = path.stripSuffix("/") + "/"
    def concerns(other: String): Boolean = other == path || other.startsWith(below)
    var interrupted = false
    synchronized {
      waiting.keySet.removeIf(concerns(_))
      while (running.exists(r => concerns(r._1))) {
        try wait()
        catch { case _: InterruptedException => interrupted = true }
      }
    }
    if (interrupted) Thread.currentThread.interrupt()
  }

  @tailrec
  private def drain(): Unit = next() match {
    case None => ()
    case Some((path, contents)) =>
      try write(path, contents)
      catch { case NonFatal(e) => WriteBehind.log.warn(s"Could not write $path: ${e.getMessage}") }
      finally ended()
      drain()
  }

  private def next(): Option[(String, Array[Byte])] = synchronized {
    val entries = waiting.entrySet.iterator
    if (entries.hasNext) {
      val entry = entries.next()
      entries.remove()
      running = Some((entry.getKey, entry.getValue))
    } else atWork = false
    running
  }

  private def ended(): Unit = synchronized {
    running = None
    notifyAll()
  }
}

private[io] object WriteBehind {
  private val log = LoggerFactory.getLogger("iceberglite.io.WriteBehind")
  private val Width = 4
  private val IdleSeconds = 10L

  /** How long the end of the JVM waits for a storage that does not answer. */
  private val EndSeconds = 10L

  /** Above 10, at which Hadoop closes its file systems. */
  private val HookPriority = 20

  /** A burst of commits writes one hint, and whoever commits next need not share the device with it. */
  private val DelayMs = 100L

  /** Daemons, so that they do not keep a program from its end, which waits for what they have begun instead. */
  private lazy val pool: ScheduledThreadPoolExecutor = {
    val factory: ThreadFactory = { work =>
      val thread = new Thread(work, "iceberg-lite-hints")
      thread.setDaemon(true)
      thread
    }
    val made = new ScheduledThreadPoolExecutor(Width, factory)
    made.setKeepAliveTime(IdleSeconds, TimeUnit.SECONDS)
    made.allowCoreThreadTimeOut(true)
    val end: Runnable = () => {
      made.shutdown()
      made.awaitTermination(EndSeconds, TimeUnit.SECONDS)
    }
    if (Try(ShutdownHookManager.get.addShutdownHook(end, HookPriority)).isFailure) made.shutdown()
    made
  }

  /**
   * As who is asking (Hadoop's doAs), not as whoever started the thread. What comes when the end has begun is written by
   * its own thread.
   */
  private def run(work: () => Unit): Unit = {
    val caller = AccessController.getContext
    val action: PrivilegedAction[Unit] = () => work()
    val later: Runnable = () => AccessController.doPrivileged(action, caller)
    try {
      pool.schedule(later, DelayMs, TimeUnit.MILLISECONDS)
      ()
    } catch { case _: RejectedExecutionException => later.run() }
  }
}
