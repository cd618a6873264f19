package iceberglite.catalog.rest

import java.time.ZonedDateTime
import java.time.format.DateTimeFormatter.RFC_1123_DATE_TIME

import scala.annotation.tailrec
import scala.util.Try

import iceberglite.catalog.rest.Delivery.{Answered, Lost, NotSent}
import iceberglite.table.Environment

/** Whether a request may be retried. */
sealed private[catalog] trait Repeat

private[catalog] object Repeat {

  /** The request is idempotent. */
  case object Always extends Repeat

  /**
   * The request has requirements, which fail in a retry if an earlier attempt succeeded. After such a failure, the
   * caller must check whether the earlier attempt succeeded.
   */
  case object Guarded extends Repeat

  /** The request must not be retried if the server may have processed it. */
  case object Once extends Repeat
}

/** The result of a request after all attempts. */
sealed private[catalog] trait Outcome

private[catalog] object Outcome {
  final case class Done(answer: Answer) extends Outcome

  /** A rejection. @param inDoubt whether an earlier attempt may have succeeded */
  final case class Refused(answer: Answer, inDoubt: Boolean) extends Outcome
  final case class Unsent(reason: String) extends Outcome
  final case class Unknown(reason: String) extends Outcome
}

/**
 * Sends requests, and retries those that were rejected temporarily or failed in transit. The pause before a retry
 * doubles each time, or is longer if the server requests it.
 */
final private[catalog] class Sender(settings: RestSettings, wire: Wire, environment: Environment) {
  import Outcome._
  import Sender._

  private val maxRetries = settings.number(RestProperty.MaxRetries, 0)

  /** Sends a request. @param auth adds authentication to each attempt */
  def send(call: Call, repeat: Repeat, auth: Auth, tableToken: Option[String] = None): Outcome = {
    @tailrec
    def attempt(state: State): Outcome = {
      val delivery = wire.send(auth.prove(call, tableToken.filterNot(_ => state.renewed)))
      val outcome = outcomeOf(delivery, state)
      next(delivery, state, repeat, auth, tableToken) match {
        case Some(following) => attempt(following)
        case None => outcome
      }
    }
    attempt(State(0, renewed = false, inDoubt = false))
  }

  private def outcomeOf(delivery: Delivery, state: State): Outcome = delivery match {
    case Answered(answer) if isSuccess(answer) => Done(answer)
    case Answered(answer) => Refused(answer, state.inDoubt)
    case NotSent(reason, _) if state.inDoubt => Unknown(reason)
    case NotSent(reason, _) => Unsent(reason)
    case Lost(reason) => Unknown(reason)
  }

  /** Waits before a retry and returns its state; `None` if the request is not retried. */
  private def next(
      delivery: Delivery,
      state: State,
      repeat: Repeat,
      auth: Auth,
      tableToken: Option[String]
  ): Option[State] = delivery match {
    case Answered(Answer(401 | 419, _, _)) =>
      val mayDiffer = !state.renewed && (auth.renew() || tableToken.isDefined)
      if (mayDiffer) Some(state.copy(renewed = true)) else None
    case Answered(answer @ Answer(429, _, _)) => backOff(state, retryAfter(answer))
    case Answered(answer @ Answer(503, _, _)) if repeat != Repeat.Once || retryAfter(answer).isDefined =>
      backOff(state.copy(inDoubt = true), retryAfter(answer))
    case Answered(Answer(502 | 504, _, _)) if repeat == Repeat.Always => backOff(state.copy(inDoubt = true), None)
    case Lost(_) if repeat == Repeat.Always => backOff(state.copy(inDoubt = true), None)
    case NotSent(_, true) => backOff(state, None)
    case _ => None
  }

  private def backOff(state: State, requestedMs: Option[Long]): Option[State] = {
    val full = math.min(MaxWaitMs, MinWaitMs << math.min(state.tries, MaxDoublings))
    val ownMs = (full * (0.5 + environment.randomFraction() / 2)).toLong
    val wait = math.max(ownMs, requestedMs.getOrElse(0L))
    if (state.tries >= maxRetries || wait > MaxRequestedMs || !sleep(wait)) None
    else Some(state.copy(tries = state.tries + 1))
  }

  private def sleep(ms: Long): Boolean =
    if (Thread.currentThread.isInterrupted) false
    else
      try {
        environment.sleep(ms)
        true
      } catch {
        case _: InterruptedException =>
          Thread.currentThread.interrupt()
          false
      }

  /** Returns the requested wait in milliseconds; the header has seconds or a time. */
  private def retryAfter(answer: Answer): Option[Long] = answer.headers.get("retry-after").map(_.trim).flatMap { text =>
    Try(text.toLong).toOption.filter(_ >= 0).map(seconds =>
      if (seconds > MaxRequestedMs) Long.MaxValue else seconds * 1000
    )
      .orElse(Try(ZonedDateTime.parse(text, RFC_1123_DATE_TIME).toInstant.toEpochMilli - environment.nowMs()).toOption)
      .map(math.max(0L, _))
  }
}

private[catalog] object Sender {
  private val MinWaitMs = 100L
  private val MaxWaitMs = 10000L
  private val MaxDoublings = 10

  /** The maximum pause that a server can request. If it requests a longer pause, the request fails. */
  private val MaxRequestedMs = 60000L

  /** The state of the attempts. @param inDoubt whether an earlier attempt may have succeeded */
  final private case class State(tries: Int, renewed: Boolean, inDoubt: Boolean)

  private def isSuccess(answer: Answer): Boolean = answer.status / 100 == 2 || answer.status == 304
}
