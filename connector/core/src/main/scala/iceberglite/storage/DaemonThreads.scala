package iceberglite.storage

import java.util.concurrent.ThreadFactory
import java.util.concurrent.atomic.AtomicInteger

/** Creates threads that do not keep the JVM alive. @param name the name of the threads; a number is appended to it */
final private[iceberglite] class DaemonThreads(name: String) extends ThreadFactory {
  private val count = new AtomicInteger

  override def newThread(work: Runnable): Thread = {
    val thread = new Thread(work, s"iceberg-lite-$name-${count.incrementAndGet()}")
    thread.setDaemon(true)
    thread
  }
}
