package iceberglite.sim

import scala.util.Random

/** A fault of a simulated call to the storage or the catalog. */
sealed trait CallFault
object CallFault {

  /** The call has no effect, and the caller gets an error. */
  case object Refused extends CallFault

  /** The call takes effect, and its response is lost. */
  case object ResponseLost extends CallFault

  /** The request is lost: the call has no effect, and the caller gets no response. */
  case object RequestLost extends CallFault

  /** The caller gets no response, and the call takes effect later. */
  case object Late extends CallFault

  /** The call succeeds, and takes effect a second time later. */
  case object Twice extends CallFault

  /** A proxy repeats the call immediately, and the caller gets the second response. */
  case object Repeated extends CallFault

  /** The caller runs out of memory after the call took effect. */
  case object OutOfMemory extends CallFault

  /** The writer dies before the call takes effect. */
  case object DiesBefore extends CallFault

  /** The writer dies after the call took effect, and before it gets the response. */
  case object DiesAfter extends CallFault

  val all: Seq[CallFault] =
    Seq(Refused, ResponseLost, RequestLost, Late, Twice, Repeated, OutOfMemory, DiesBefore, DiesAfter)

  /**
   * The faults of a call without side effects. The others are left out, because for such a call they have the same
   * result as one of these, or as no fault.
   */
  val ofReads: Seq[CallFault] = Seq(Refused, OutOfMemory, DiesBefore)
}

/**
 * Chooses the faults of calls at random.
 *
 * @param rate probability of a fault, 0 to 1
 */
final class Dice(random: Random, rate: Double) {
  def roll(possible: Seq[CallFault]): Option[CallFault] =
    if (possible.nonEmpty && random.nextDouble() < rate) Some(possible(random.nextInt(possible.size))) else None

  /** Returns a random number of steps after which a delayed effect happens. */
  def delay(): Int = 1 + random.nextInt(60)
}

/**
 * A simulated call, with its result and its possible errors.
 *
 * @param what description of the call for [[Simulation.trace]], for example `write v2.metadata.json`
 * @param faults the possible faults
 * @param run executes the call
 * @param refused the error that the caller gets if the call had no effect
 * @param unknown the error that the caller gets if it is unknown whether the call had an effect
 * @param later executes the call at a later step and ignores its result: the only execution for [[CallFault.Late]], and
 *   the second for [[CallFault.Twice]]
 */
final case class Call[A](
    what: String,
    faults: Seq[CallFault],
    run: () => A,
    refused: () => Throwable,
    unknown: () => Throwable,
    later: () => Unit
)

object Call {

  /** Creates a call without side effects. */
  def reading[A](what: String, failure: () => Throwable)(run: () => A): Call[A] =
    Call(what, CallFault.ofReads, run, failure, failure, () => ())
}
