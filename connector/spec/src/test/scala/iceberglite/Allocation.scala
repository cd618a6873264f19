package iceberglite

import java.lang.management.ManagementFactory

/** Measures the heap memory that code allocates in the calling thread. */
object Allocation {
  private val threads = ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]

  /** Returns the result of the body and the number of bytes that it allocated. */
  def of[A](body: => A): (A, Long) = {
    val thread = Thread.currentThread.getId
    val before = threads.getThreadAllocatedBytes(thread)
    val result = body
    (result, threads.getThreadAllocatedBytes(thread) - before)
  }
}
