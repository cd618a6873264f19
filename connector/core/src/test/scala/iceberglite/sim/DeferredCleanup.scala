package iceberglite.sim

import scala.collection.mutable
import scala.util.Random

import iceberglite.table.{Cleanup, CommitCleanup}

/**
 * The clean-up after the commits of one simulated writer, which runs when later operations have begun, and in any
 * order. If the writer dies before, it does not run.
 *
 * @param isDead whether the writer has died
 */
final private class DeferredCleanup(random: Random, isDead: () => Boolean) extends CommitCleanup {
  private val waiting = mutable.Buffer.empty[() => Unit]
  private var lost = false

  override def run(what: String)(work: => Unit): Unit = waiting += (() => Cleanup.quietly(what)(work))

  override def await(): Unit = while (waiting.nonEmpty) runOne()

  def isWaiting: Boolean = waiting.nonEmpty

  /** Whether the writer has died, or run out of memory, before or in some of its clean-up. */
  def isLost: Boolean = isWaiting || lost

  /** Runs some of the clean-up that waits. */
  def runSome(): Unit = while (waiting.nonEmpty && random.nextBoolean()) runOne()

  private def runOne(): Unit = {
    val next = waiting.remove(random.nextInt(waiting.size))
    val before = lost
    lost = true
    next()
    lost = before || isDead()
  }
}
