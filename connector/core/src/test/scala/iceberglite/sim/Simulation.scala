package iceberglite.sim

import scala.collection.mutable.ArrayBuffer
import scala.util.Random

import iceberglite.table.Crash

/**
 * The storage, the clock and the random generator of one history. The seed determines all random choices.
 *
 * @param stay probability that the writer of a call makes the next call without a random choice of the writer, 0 to 1
 * @param rate probability that a call has a fault, 0 to 1
 */
final class Simulation(seed: Long, stay: Double, rate: Double) {
  val random = new Random(seed)
  val schedule = new Schedule(random, stay)
  val store = new SimulatedStore
  private val dice = new Dice(random, rate)
  private val calls = ArrayBuffer.empty[(Int, Int, String)]

  /** The wall clock in milliseconds. The clocks of writers differ from it. */
  var wallMs: Long = 1700000000000L

  /** Chooses the fault of a call by [[Call.what]]. If it returns `None`, the random generator chooses. */
  var intercept: String => Option[CallFault] = (_: String) => None

  /** The calls and notes, one per line, with the step and the writer. */
  def trace: Vector[String] = calls.iterator.map { case (step, writer, what) => f"$step%5d  $writer  $what" }.toVector

  def note(writer: Int, what: => String): Unit = calls += ((schedule.now, writer, what))

  /** Executes the calls of one writer. */
  final class Caller(writer: Int) {
    private var dead = false

    /** Whether the writer died. Its code may still run, but each further call fails. */
    def isDead: Boolean = dead

    /** Executes the call, possibly with a fault. */
    def apply[A](call: Call[A]): A = {
      if (dead) throw new Crash
      schedule.pause(writer)
      wallMs += 1
      val fault = intercept(call.what).orElse(dice.roll(call.faults))
      note(writer, call.what + fault.fold("")(f => s" [$f]"))
      fault.fold(call.run())(runWithFault(call, _))
    }

    /** Advances the wall clock and lets other writers run. */
    def sleep(millis: Long): Unit = {
      if (dead) throw new Crash
      wallMs += millis
      schedule.pause(writer)
    }

    private def runWithFault[A](call: Call[A], fault: CallFault): A = fault match {
      case CallFault.Refused => throw call.refused()
      case CallFault.ResponseLost =>
        call.run()
        throw call.unknown()
      case CallFault.RequestLost => throw call.unknown()
      case CallFault.Late =>
        schedule.later(dice.delay())(call.later)
        throw call.unknown()
      case CallFault.Twice =>
        val answer = call.run()
        schedule.later(dice.delay())(call.later)
        answer
      case CallFault.Repeated =>
        call.run()
        call.run()
      case CallFault.OutOfMemory =>
        call.run()
        throw new OutOfMemoryError("injected by the simulation")
      case CallFault.DiesBefore => die()
      case CallFault.DiesAfter =>
        call.run()
        die()
    }

    private def die(): Nothing = {
      dead = true
      throw new Crash
    }
  }
}
