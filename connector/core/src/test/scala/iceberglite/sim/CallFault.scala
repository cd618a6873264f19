package iceberglite.sim

import scala.util.Random

/** What can become of a call of the storage or the catalog. */
sealed trait CallFault
object CallFault {

  /** It says that it failed, and did nothing. */
  case object Refused extends CallFault

  /** It did what it was to do, and its answer gets lost. */
  case object AnswerLost extends CallFault

  /** It did nothing, and nobody says so. */
  case object Unheard extends CallFault

  /** The caller hears of no answer, and it is done later. */
  case object Late extends CallFault

  /** It is done, and once more later. */
  case object Twice extends CallFault

  /** Something on the way does it twice at once, and passes on the second answer. */
  case object Repeated extends CallFault

  /** It runs out of memory after it did what it was to do. */
  case object OutOfMemory extends CallFault

  /** The writer dies before it. */
  case object DiesBefore extends CallFault

  /** The writer dies after it, before its answer. */
  case object DiesAfter extends CallFault

  val all: Seq[CallFault] = Seq(Refused, AnswerLost, Unheard, Late, Twice, Repeated, OutOfMemory, DiesBefore, DiesAfter)

  /** Those that make sense of a call that changes nothing. */
  val ofReads: Seq[CallFault] = Seq(Refused, OutOfMemory, DiesBefore)
}

/**
 * Decides what becomes of calls.
 *
 * @param rate how likely a call goes wrong, 0 to 1
 */
final class Dice(random: Random, rate: Double) {
  def roll(possible: Seq[CallFault]): Option[CallFault] =
    if (possible.nonEmpty && random.nextDouble() < rate) Some(possible(random.nextInt(possible.size))) else None

  /** After how many steps something late happens. */
  def delay(): Int = 1 + random.nextInt(60)
}

/**
 * A call, with all ways in which it can end.
 *
 * @param what for the trace: `write v2.metadata.json`
 * @param faults what can become of it
 * @param run does it
 * @param refused the error of a call that did nothing and says so
 * @param unknown the error of one of which nobody knows
 * @param again the call arrives at the storage, with nobody waiting for its answer
 */
final case class Call[A](
    what: String,
    faults: Seq[CallFault],
    run: () => A,
    refused: () => Throwable,
    unknown: () => Throwable,
    again: () => Unit
)

object Call {

  /** One that changes nothing. */
  def reading[A](what: String, failure: () => Throwable)(run: () => A): Call[A] =
    Call(what, CallFault.ofReads, run, failure, failure, () => ())
}
