package iceberglite.storage

import java.util.LinkedHashMap
import java.util.concurrent.{RejectedExecutionException, ScheduledThreadPoolExecutor, TimeUnit}

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

/**
 * Writes small files in the background after a short delay. If a file is written several times within the delay, only
 * the last content is written. [[contentsOf]] returns the new content immediately. A failed write is only logged.
 *
 * @param write replaces the content of a file
 */
final private[storage] class WriteBehind(write: (String, Array[Byte]) => Unit) {
  private val pending = new LinkedHashMap[String, Array[Byte]]
  private var running = Option.empty[(String, Array[Byte])]
  private var isDraining = false

  def put(path: String, contents: Array[Byte]): Unit = {
    val idle = synchronized {
      pending.put(path, contents)
      val wasIdle = !isDraining
      isDraining = true
      wasIdle
    }
    if (idle) WriteBehind.schedule(() => drain())
  }

  /** Returns the content of a file that has not been completely written yet; `None` if there is no pending write. */
  def contentsOf(path: String): Option[Array[Byte]] = synchronized {
    Option(pending.get(path)).orElse(running.filter(_._1 == path).map(_._2))
  }

  /**
   * Discards the pending writes of a file, or of the files in a directory. If such a write is in progress, waits until
   * it ends.
   */
  def discard(path: String): Unit = {
    val directoryPrefix = path.stripSuffix("/") + "/"
    def isAffected(pendingPath: String): Boolean = pendingPath == path || pendingPath.startsWith(directoryPrefix)
    var interrupted = false
    synchronized {
      pending.keySet.removeIf(isAffected(_))
      while (running.exists(r => isAffected(r._1))) {
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
      finally finishWrite()
      drain()
  }

  private def next(): Option[(String, Array[Byte])] = synchronized {
    val entries = pending.entrySet.iterator
    if (entries.hasNext) {
      val entry = entries.next()
      entries.remove()
      running = Some((entry.getKey, entry.getValue))
    } else isDraining = false
    running
  }

  private def finishWrite(): Unit = synchronized {
    running = None
    notifyAll()
  }
}

private[storage] object WriteBehind {
  private val log = LoggerFactory.getLogger("iceberglite.storage.WriteBehind")
  private val Threads = 4
  private val IdleSeconds = 10L

  /**
   * Delay of writes in milliseconds. Because of the delay, several commits in quick succession write only one version
   * hint, and the write does not slow down the next commit.
   */
  private val DelayMs = 100L

  /** The threads that write files. They do not keep the JVM alive, but a shutdown hook waits for pending writes. */
  private lazy val pool: ScheduledThreadPoolExecutor = {
    val executor = new ScheduledThreadPoolExecutor(Threads, new DaemonThreads("hints"))
    executor.setKeepAliveTime(IdleSeconds, TimeUnit.SECONDS)
    DaemonThreads.finishAtShutdown(executor)
  }

  /**
   * Schedules work, which runs as the calling user (Hadoop's doAs), not as the user that started the thread. Once the
   * shutdown of the JVM has begun, the work runs immediately in the calling thread.
   */
  private def schedule(work: () => Unit): Unit = {
    val asCaller = DaemonThreads.asCaller(work)
    val task: Runnable = () => asCaller()
    try {
      pool.schedule(task, DelayMs, TimeUnit.MILLISECONDS)
      ()
    } catch { case _: RejectedExecutionException => task.run() }
  }
}
