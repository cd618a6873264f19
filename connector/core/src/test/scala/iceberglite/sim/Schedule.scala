package iceberglite.sim

import java.util.concurrent.{CountDownLatch, Executors, Semaphore, ThreadFactory}

import scala.collection.mutable.ArrayBuffer
import scala.util.Random

/**
 * Runs each writer in its own thread, but only one writer at a time. A writer runs until it calls [[pause]], which may
 * choose the next writer at random. The same seed results in the same order of steps.
 *
 * @param stay probability, 0 to 1, that the writer that called [[pause]] continues without a choice; a choice may also
 *   select this writer
 */
final class Schedule(random: Random, stay: Double) {
  private var turns = Vector.empty[Semaphore]
  private var alive = Vector.empty[Int]
  private val pending = ArrayBuffer.empty[(Int, () => Unit)]
  private var owners = Map.empty[Int, Thread]
  private var failures = Vector.empty[Throwable]
  private var steps = 0

  /** The number of the current step. Steps order all events of a history. */
  def now: Int = steps

  /** Runs the bodies of the writers, and then the remaining delayed effects. Throws the first error of a body. */
  def run(bodies: Vector[() => Unit]): Unit = {
    val finished = new CountDownLatch(bodies.size)
    turns = bodies.map(_ => new Semaphore(0))
    alive = bodies.indices.toVector
    bodies.zipWithIndex.foreach { case (body, writer) =>
      Schedule.threads.execute { () =>
        turns(writer).acquireUninterruptibly()
        try {
          owners += writer -> Thread.currentThread
          body()
        } catch { case e: Throwable => failures :+= e }
        finally {
          alive = alive.filterNot(_ == writer)
          alive.lift(random.nextInt(math.max(alive.size, 1))).foreach(turns(_).release())
          finished.countDown()
        }
      }
    }
    turns(random.nextInt(turns.size)).release()
    finished.await()
    pending.foreach(_._2())
    pending.clear()
    failures.foreach(throw _)
  }

  /**
   * Ends a step of the writer, and may let another writer continue. Only the writer's own thread may call this method:
   * if several threads called it for one writer, the seed would not determine the order of their calls.
   */
  def pause(writer: Int): Unit = {
    if (owners.get(writer).exists(_ ne Thread.currentThread)) {
      throw new AssertionError(s"Writer $writer makes a call from ${Thread.currentThread.getName}, not from its thread")
    }
    steps += 1
    runDueEffects()
    if (alive.size > 1 && random.nextDouble() >= stay) {
      val next = alive(random.nextInt(alive.size))
      if (next != writer) {
        turns(next).release()
        turns(writer).acquireUninterruptibly()
      }
    }
  }

  /** Schedules an effect to run after a number of steps, or at the end of the run if that is earlier. */
  def later(steps: Int)(effect: () => Unit): Unit = pending += (now + steps -> effect)

  private def runDueEffects(): Unit = if (pending.nonEmpty) {
    val due = pending.filter(_._1 <= now)
    pending --= due
    due.foreach(_._2())
  }
}

object Schedule {
  private lazy val threads = Executors.newCachedThreadPool(new ThreadFactory {
    override def newThread(body: Runnable): Thread = {
      val thread = new Thread(body, "simulated-writer")
      thread.setDaemon(true)
      thread
    }
  })
}
