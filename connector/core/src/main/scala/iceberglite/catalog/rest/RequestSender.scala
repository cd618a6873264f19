package iceberglite.catalog.rest

import java.time.ZonedDateTime
import java.time.format.DateTimeFormatter.RFC_1123_DATE_TIME

import scala.annotation.tailrec
import scala.util.Try

import iceberglite.catalog.rest.SendResult.{NoResponse, NotSent, Responded}
import iceberglite.table.{Environment, RetryPolicy}

/** Determines in which cases a request may be retried. */
sealed private[catalog] trait RetryMode

private[catalog] object RetryMode {

  /**
   * The request is idempotent. It may be retried after any temporary failure, even if the server may have processed it.
   */
  case object Always extends RetryMode

  /**
   * The request takes effect only once even if the server processes it twice. Therefore it may be retried after status
   * 503 (service unavailable). For example, once an attempt of a commit has succeeded, its requirements fail in all
   * later attempts. If a requirement fails in a retry, the caller must check whether an earlier attempt succeeded.
   */
  case object IfUnavailable extends RetryMode

  /**
   * The request must not be retried if the server may have processed it. After status 503, it is retried only if the
   * server requests a retry with `Retry-After`.
   */
  case object IfNotProcessed extends RetryMode
}

/** The result of a request after all attempts. */
sealed private[catalog] trait Outcome

private[catalog] object Outcome {
  final case class Succeeded(response: RestResponse) extends Outcome

  /** The last attempt was rejected. @param earlierOutcomeUnknown whether an earlier attempt may have succeeded */
  final case class Rejected(response: RestResponse, earlierOutcomeUnknown: Boolean) extends Outcome

  /**
   * The last attempt was not sent, for example because there was no connection. No earlier attempt can have succeeded.
   */
  final case class Unsent(reason: String) extends Outcome

  /** An attempt may have succeeded, but there was no response to the last attempt. */
  final case class Unknown(reason: String) extends Outcome
}

/**
 * Sends requests. Retries a request if the server rejected it temporarily or rejected its credentials, or if the
 * connection failed. After rejected credentials, the retry is immediate. Before other retries, there is a pause, which
 * doubles each time up to a limit, or is longer if the server requests a longer pause.
 */
final private[catalog] class RequestSender(settings: RestSettings, transport: Transport, environment: Environment) {
  import Outcome._
  import RequestSender._

  private val maxRetries = math.min(settings.number(RestProperty.MaxRetries, 0), Int.MaxValue).toInt

  /** Sends a request. @param auth adds authentication to each attempt */
  def send(call: HttpCall, retryMode: RetryMode, auth: Auth, tableToken: Option[String] = None): Outcome = {
    val retries = new Retries(retryMode, auth, tableToken)
    @tailrec
    def attempt(state: AttemptState): Outcome = {
      val authenticated = auth.authenticate(call, tableToken.filterNot(_ => state.omitsTableToken))
      val result = transport.send(authenticated)
      val outcome = outcomeOf(call, result, state)
      retries.next(authenticated, result, state) match {
        case Some(retryState) => attempt(retryState)
        case None => outcome
      }
    }
    attempt(AttemptState())
  }

  private def outcomeOf(call: HttpCall, result: SendResult, state: AttemptState): Outcome = result match {
    case Responded(response) if isSuccess(call, response) => Succeeded(response)
    case Responded(response) => Rejected(response, state.earlierOutcomeUnknown)
    case NotSent(reason, _) if state.earlierOutcomeUnknown => Unknown(reason)
    case NotSent(reason, _) => Unsent(reason)
    case NoResponse(reason) => Unknown(reason)
  }

  /** The retries of one request. */
  final private class Retries(retryMode: RetryMode, auth: Auth, tableToken: Option[String]) {
    private val policy = new RetryPolicy(maxRetries, MinWaitMs, MaxWaitMs, Long.MaxValue, environment)

    /** Waits before a retry. Returns the state of the retry; `None` if the request is not retried. */
    def next(sent: HttpCall, result: SendResult, state: AttemptState): Option[AttemptState] = result match {
      case Responded(RestResponse(401 | 419, _, _)) =>
        // If the token of the table has expired, the token of the catalog may still be valid. Therefore the catalog's
        // token is tried before it is renewed.
        if (tableToken.isDefined && !state.omitsTableToken) Some(state.copy(omitsTableToken = true))
        else if (!state.renewed && auth.renew(sent)) Some(state.copy(renewed = true))
        else None
      case Responded(response @ RestResponse(429, _, _)) => after(retryAfter(response), state)
      case Responded(response @ RestResponse(503, _, _))
          if retryMode != RetryMode.IfNotProcessed || retryAfter(response).isDefined =>
        after(retryAfter(response), state.copy(earlierOutcomeUnknown = true))
      case Responded(RestResponse(502 | 504, _, _)) if retryMode == RetryMode.Always =>
        after(None, state.copy(earlierOutcomeUnknown = true))
      case NoResponse(_) if retryMode == RetryMode.Always => after(None, state.copy(earlierOutcomeUnknown = true))
      case NotSent(_, true) => after(None, state)
      case _ => None
    }

    /** Waits before a retry. @param requestedMs the pause in milliseconds that the server requests */
    private def after(requestedMs: Option[Long], retry: AttemptState): Option[AttemptState] = {
      val atLeastMs = requestedMs.getOrElse(0L)
      if (atLeastMs <= MaxRequestedMs && waitForNext(atLeastMs)) Some(retry) else None
    }

    private def waitForNext(atLeastMs: Long): Boolean =
      try !Thread.currentThread.isInterrupted && policy.waitForNext(atLeastMs)
      catch {
        case _: InterruptedException =>
          Thread.currentThread.interrupt()
          false
      }
  }

  /** Returns the pause in milliseconds that the server requests with `Retry-After`, in seconds or as a time. */
  private def retryAfter(response: RestResponse): Option[Long] =
    response.headers.get("retry-after").map(_.trim).flatMap { text =>
      Try(text.toLong).toOption.filter(_ >= 0).map(seconds =>
        if (seconds > MaxRequestedMs) Long.MaxValue else seconds * 1000
      )
        .orElse(
          Try(ZonedDateTime.parse(text, RFC_1123_DATE_TIME).toInstant.toEpochMilli - environment.nowMs()).toOption
        )
        .map(math.max(0L, _))
    }
}

private[catalog] object RequestSender {

  /** The header with the ETag of a cached object. */
  val IfNoneMatch = "If-None-Match"

  private val MinWaitMs = 100L
  private val MaxWaitMs = 10000L

  /** The maximum pause that a server can request. If it requests a longer pause, the request fails. */
  private val MaxRequestedMs = 60000L

  /**
   * The state before an attempt.
   *
   * @param omitsTableToken whether the server rejected the token of the table, so that it is no longer sent
   * @param renewed whether rejected credentials were replaced
   * @param earlierOutcomeUnknown whether an earlier attempt may have succeeded
   */
  final private case class AttemptState(
      omitsTableToken: Boolean = false,
      renewed: Boolean = false,
      earlierOutcomeUnknown: Boolean = false
  )

  /** Whether a request succeeded. Status 304 (not modified) is an answer only to a request with an ETag. */
  private def isSuccess(call: HttpCall, response: RestResponse): Boolean =
    response.status / 100 == 2 || response.status == 304 && call.header(IfNoneMatch).isDefined
}
