package iceberglite.sim

import scala.collection.mutable.ArrayBuffer
import scala.util.Random

import iceberglite.table.Crash

/**
 * The world of one history: storage, time and chance, all of which come from a seed.
 *
 * @param stay how likely a writer goes on without others in between, 0 to 1
 * @param rate how likely a call goes wrong, 0 to 1
 */
final class Simulation(seed: Long, stay: Double, rate: Double) {
  val random = new Random(seed)
  val schedule = new Schedule(random, stay)
  val store = new SimulatedStore
  private val dice = new Dice(random, rate)
  private val calls = ArrayBuffer.empty[(Int, Int, String)]

  /** The clock on the wall; those of writers differ from it. */
  var wallMs: Long = 1700000000000L

  /** What a test wants to become of a call, whatever the dice say. */
  var intercept: String => Option[CallFault] = (_: String) => None

  /** What happened, one line each: the step, the writer, what it did. */
  def trace: Vector[String] = calls.iterator.map { case (step, writer, what) => f"$step%5d  $writer  $what" }.toVector

  def note(writer: Int, what: => String): Unit = calls += ((schedule.now, writer, what))

  /** What the calls of one writer go through. */
  final class Caller(writer: Int) {
    private var dead = false

    /** Whether the writer died, however much of its code may still run. */
    def isDead: Boolean = dead

    /** Does the call, or lets it go wrong. */
    def apply[A](call: Call[A]): A = {
      if (dead) throw new Crash
      schedule.pause(writer)
      wallMs += 1
      val fault = intercept(call.what).orElse(dice.roll(call.faults))
      note(writer, call.what + fault.fold("")(f => s" [$f]"))
      fault.fold(call.run())(wrong(call, _))
    }

    /** The writer waits. */
    def sleep(millis: Long): Unit = {
      if (dead) throw new Crash
      wallMs += millis
      schedule.pause(writer)
    }

    private def wrong[A](call: Call[A], fault: CallFault): A = fault match {
      case CallFault.Refused => throw call.refused()
      case CallFault.AnswerLost =>
        call.run()
        throw call.unknown()
      case CallFault.Unheard => throw call.unknown()
      case CallFault.Late =>
        schedule.later(dice.delay())(call.again)
        throw call.unknown()
      case CallFault.Twice =>
        val answer = call.run()
        schedule.later(dice.delay())(call.again)
        answer
      case CallFault.Repeated =>
        call.run()
        call.run()
      case CallFault.OutOfMemory =>
        call.run()
        throw new OutOfMemoryError("by the simulation")
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
