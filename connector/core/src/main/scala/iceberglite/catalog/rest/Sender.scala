package iceberglite.catalog.rest

import java.time.ZonedDateTime
import java.time.format.DateTimeFormatter.RFC_1123_DATE_TIME

import scala.annotation.tailrec
import scala.util.Try

import iceberglite.catalog.rest.Delivery.{Answered, Lost, NotSent}
import iceberglite.table.Environment

/** Whether a request may be repeated. */
sealed private[catalog] trait Repeat

private[catalog] object Repeat {

  /** The request is idempotent. */
  case object Always extends Repeat

  /**
   * If the first request succeeded, the requirements of the second one fail: after a failure, check whose commit it
   * was.
   */
  case object Guarded extends Repeat

  /** Not after the server may have processed it. */
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
 * Sends requests, and repeats those that were rejected temporarily or failed in transit, after waits that double or
 * that the server requests.
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

  /** Returns the state for the next attempt, after the wait. */
  private def next(
      delivery: Delivery,
      state: State,
      repeat: Repeat,
      auth: Auth,
      tableToken: Option[String]
  ): Option[State] = delivery match {
    case Answered(Answer(401 | 419, _, _)) =>
      val another = !state.renewed && (auth.renew() || tableToken.isDefined)
      if (another) Some(state.copy(renewed = true)) else None
    case Answered(answer @ Answer(429, _, _)) => waited(state, retryAfter(answer))
    case Answered(answer @ Answer(503, _, _)) if repeat != Repeat.Once || retryAfter(answer).isDefined =>
      waited(state.copy(inDoubt = true), retryAfter(answer))
    case Answered(Answer(502 | 504, _, _)) if repeat == Repeat.Always => waited(state.copy(inDoubt = true), None)
    case Lost(_) if repeat == Repeat.Always => waited(state.copy(inDoubt = true), None)
    case NotSent(_, true) => waited(state, None)
    case _ => None
  }

  private def waited(state: State, asked: Option[Long]): Option[State] = {
    val full = math.min(MaxWaitMs, MinWaitMs << math.min(state.tries, MaxDoublings))
    val ownMs = (full * (0.5 + environment.randomFraction() / 2)).toLong
    val wait = math.max(ownMs, asked.getOrElse(0L))
    if (state.tries >= maxRetries || wait > MostAskedMs || !slept(wait)) None
    else Some(state.copy(tries = state.tries + 1))
  }

  private def slept(ms: Long): Boolean =
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
      if (seconds > MostAskedMs) Long.MaxValue else seconds * 1000
    )
      .orElse(Try(ZonedDateTime.parse(text, RFC_1123_DATE_TIME).toInstant.toEpochMilli - environment.nowMs()).toOption)
      .map(math.max(0L, _))
  }
}

private[catalog] object Sender {
  private val MinWaitMs = 100L
  private val MaxWaitMs = 10000L
  private val MaxDoublings = 10

  /** If a server requests a longer wait, the request fails, and the user can decide. */
  private val MostAskedMs = 60000L

  /** The state of the attempts. @param inDoubt whether an earlier attempt may have succeeded */
  final private case class State(tries: Int, renewed: Boolean, inDoubt: Boolean)

  private def isSuccess(answer: Answer): Boolean = answer.status / 100 == 2 || answer.status == 304
}
