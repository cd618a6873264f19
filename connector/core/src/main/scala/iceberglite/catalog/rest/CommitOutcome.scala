package iceberglite.catalog.rest

import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{CommitStateUnknown, InvalidMetadata}

/**
 * Determines the outcome of a commit from its response (REST OpenAPI description: `updateTable`). The commit succeeded,
 * failed, or has an unknown outcome. It failed only if the catalog itself rejected it, or if the request was not sent.
 */
private[catalog] object CommitOutcome {

  /** Replaces the name of the metadata file in messages, because the server chooses the name. */
  val ServerFile = "the file that the server wrote for it"

  /**
   * Determines the outcome.
   *
   * @param table the name of the table, for messages
   * @param refused the errors for rejections that have a specific meaning for this commit
   * @param alreadyCommitted returns the result of an earlier attempt for rejections that mean that it succeeded
   * @return the response, or the result of an earlier attempt
   */
  def apply[A](table: String, server: RestServer, ask: Ask)(refused: PartialFunction[Refusal, IcebergError])(
      alreadyCommitted: PartialFunction[Refusal, Option[A]]
  ): Either[A, Answer] = server.client.exchange(server.prepared(ask)) match {
    case Outcome.Done(answer) => Right(answer)
    case Outcome.Unsent(reason) => throw server.client.failed(ask.what, reason)
    case Outcome.Unknown(reason) => throw unknown(table, reason)
    case Outcome.Refused(answer, inDoubt) =>
      val refusal = server.client.refusalOf(answer, inDoubt)
      alreadyCommitted.lift(refusal).flatten match {
        case Some(before) => Left(before)
        case None if isUnclear(refusal) => throw unknown(table, s"the server returned ${server.client.textOf(refusal)}")
        case None => throw refused.applyOrElse(refusal, (r: Refusal) => errorOf(table, server, ask, r))
      }
  }

  /** Returns the error for a rejection. If an earlier attempt may have succeeded, the outcome is unknown. */
  private def errorOf(table: String, server: RestServer, ask: Ask, refusal: Refusal): IcebergError =
    if (refusal.inDoubt)
      unknown(table, s"the server returned ${server.client.textOf(refusal)} to the last of several attempts")
    else server.client.error(ask.what, refusal)

  /**
   * Whether the outcome is unknown after an error of the server or of a proxy. The OpenAPI description excludes 501.
   */
  private def isUnclear(refusal: Refusal): Boolean = refusal.status >= 500 && refusal.status != 501 ||
    refusal.status == 408

  /** Reads the response to a successful commit. If the response is invalid, the new state is unknown. */
  def unreadable[A](table: String)(read: => A): A =
    try read
    catch { case e: InvalidMetadata => throw unknown(table, s"the server's response cannot be read (${e.getMessage})") }

  private def unknown(table: String, reason: String): CommitStateUnknown =
    CommitStateUnknown(table, ServerFile, reason, None)
}
