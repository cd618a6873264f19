package iceberglite.catalog.rest

import scala.util.control.NonFatal

import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{CommitStateUnknown, InvalidMetadata}

/**
 * Determines the outcome of a commit from its response (REST OpenAPI description: `updateTable`). The commit succeeded,
 * failed, or has an unknown outcome. The commit failed only if the request was not sent, or if all attempts were
 * rejected with a status which shows that the commit did not happen.
 */
private[catalog] object CommitOutcome {

  /**
   * Sends the request of a commit and determines the outcome of the commit.
   *
   * @param table the name of the table or view, for messages; for a commit to several tables, all names
   * @param errors the errors for rejections that have a specific meaning for this commit. They also apply if an earlier
   *   attempt may have succeeded (`earlierOutcomeUnknown`)
   * @param alreadyCommitted for rejections which mean that an earlier attempt succeeded, returns the result of that
   *   attempt
   * @return the response or, if an earlier attempt succeeded, the result of that attempt as `Left`
   */
  def apply[A](
      table: String,
      server: RestServer,
      request: RestRequest
  )(errors: PartialFunction[RestFailure, IcebergError])(
      alreadyCommitted: PartialFunction[RestFailure, Option[A]]
  ): Either[A, RestResponse] = server.client.exchange(server.prepare(request)) match {
    case Outcome.Succeeded(response) => Right(response)
    case Outcome.Unsent(reason) => throw server.client.storageFailed(request.what, reason)
    case Outcome.Unknown(reason) => throw unknown(table, reason)
    case Outcome.Rejected(response, earlierOutcomeUnknown) =>
      val failure = server.client.failureOf(response, earlierOutcomeUnknown)
      earlierResult(table, alreadyCommitted.lift(failure).flatten) match {
        case Some(earlier) => Left(earlier)
        case None if isOutcomeUnknown(failure) =>
          throw unknown(table, s"the server returned ${server.client.textOf(failure)}")
        case None => throw errors.applyOrElse(failure, (r: RestFailure) => errorOf(table, server, request, r))
      }
  }

  /** Looks up the result of an earlier attempt. If this fails, it remains unknown whether that attempt succeeded. */
  private def earlierResult[A](table: String, lookUp: => Option[A]): Option[A] =
    try lookUp
    catch {
      case unknown: CommitStateUnknown => throw unknown
      case NonFatal(e) =>
        throw unknown(table, s"it could not be checked whether an earlier attempt succeeded (${e.getMessage})")
    }

  /** Returns the error for a rejection. If an earlier attempt may have succeeded, the outcome is unknown. */
  private def errorOf(
      table: String,
      server: RestServer,
      request: RestRequest,
      failure: RestFailure
  ): IcebergError =
    if (failure.earlierOutcomeUnknown)
      unknown(table, s"the server returned ${server.client.textOf(failure)} to the last of several attempts")
    else server.client.toIcebergError(request.what, failure)

  /**
   * Whether the outcome is unknown after an error of the server or of a proxy, or after a timeout (status 408). Status
   * 501 means that the commit failed, because the OpenAPI description defines it as an unsupported request.
   */
  private def isOutcomeUnknown(failure: RestFailure): Boolean =
    failure.status >= 500 && failure.status != 501 ||
      failure.status == 408

  /**
   * Reads the response to a successful creation, or to a successful commit to a view. If the response is invalid,
   * `CommitStateUnknown` is thrown. The caller decides what to do with an object that this client cannot use.
   */
  def readCreated[A](name: String)(read: => A): A =
    try read
    catch { case e: InvalidMetadata => throw unreadable(name, e) }

  /**
   * Reads the response to a successful commit. If it cannot be read, for example because another program has upgraded
   * the table to a version that is not supported, `CommitStateUnknown` is thrown: any other error would mean that the
   * commit failed and that its files can be deleted.
   */
  def readResponse[A](table: String)(read: => A): A =
    try read
    catch { case e: IcebergError => throw unreadable(table, e) }

  private def unreadable(name: String, e: IcebergError): CommitStateUnknown =
    unknown(name, s"the server's response cannot be read (${e.getMessage})")

  private def unknown(table: String, reason: String): CommitStateUnknown =
    CommitStateUnknown(table, metadataFile = None, reason, None)
}
