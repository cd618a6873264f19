package iceberglite.catalog.rest

import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{CommitStateUnknown, InvalidMetadata}

/**
 * Determines the outcome of a commit from its response (REST OpenAPI description: `updateTable`): done, certainly not
 * done, or unknown. Only commits that the catalog itself rejected, or that never reached it, were certainly not done.
 */
private[catalog] object CommitOutcome {

  /** Represents the name of a metadata file in messages. */
  val ServerFile = "the file that the server wrote for it"

  /**
   * Determines the outcome.
   *
   * @param table the name of the table, for messages
   * @param refused the meanings of rejections that are specific to the commit
   * @param done the rejections that mean that the commit was done before
   * @return the response, or the earlier commit
   */
  def apply[A](table: String, server: RestServer, ask: Ask)(refused: PartialFunction[Refusal, IcebergError])(
      done: PartialFunction[Refusal, Option[A]]
  ): Either[A, Answer] = server.client.exchange(server.prepared(ask)) match {
    case Outcome.Done(answer) => Right(answer)
    case Outcome.Unsent(reason) => throw server.client.failed(ask.what, reason)
    case Outcome.Unknown(reason) => throw unknown(table, reason)
    case Outcome.Refused(answer, inDoubt) =>
      val refusal = server.client.refusalOf(answer, inDoubt)
      done.lift(refusal).flatten match {
        case Some(before) => Left(before)
        case None if isUnclear(refusal) => throw unknown(table, s"the server returned ${server.client.textOf(refusal)}")
        case None => throw refused.applyOrElse(refusal, (r: Refusal) => certain(table, server, ask, r))
      }
  }

  /** After an earlier attempt with an unknown outcome, only a conflict is informative, and is examined. */
  private def certain(table: String, server: RestServer, ask: Ask, refusal: Refusal): IcebergError =
    if (refusal.inDoubt)
      unknown(table, s"the server returned ${server.client.textOf(refusal)} to the last of several attempts")
    else server.client.error(ask.what, refusal)

  /** Whether a response is an error of a server or of a proxy; the description excludes 501. */
  private def isUnclear(refusal: Refusal): Boolean = refusal.status >= 500 && refusal.status != 501 ||
    refusal.status == 408

  /** Handles a success whose response cannot be read. */
  def unreadable[A](table: String)(read: => A): A =
    try read
    catch { case e: InvalidMetadata => throw unknown(table, s"the server's response cannot be read (${e.getMessage})") }

  private def unknown(table: String, reason: String): CommitStateUnknown =
    CommitStateUnknown(table, ServerFile, reason, None)
}
