package iceberglite.catalog.rest

import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{CommitStateUnknown, InvalidMetadata}

/**
 * What the answer to a commit says of the commit (REST OpenAPI description: `updateTable`): done, certainly not done,
 * or unknown. Only what the catalog itself refuses, and what never reached it, was certainly not done.
 */
private[catalog] object CommitOutcome {

  /** What stands for the name of a metadata file in messages. */
  val ServerFile = "the file that the server wrote for it"

  /**
   * @param table how messages call it
   * @param refused what the refusals mean that are particular to the commit
   * @param done what refusals tell that the commit was done before
   * @return the answer, or what was done before
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
        case None if isUnclear(refusal) => throw unknown(table, s"the server returned ${server.client.said(refusal)}")
        case None => throw refused.applyOrElse(refusal, (r: Refusal) => certain(table, server, ask, r))
      }
  }

  /** After an earlier try that may have been done, only a conflict says something, and is looked into. */
  private def certain(table: String, server: RestServer, ask: Ask, refusal: Refusal): IcebergError =
    if (refusal.inDoubt)
      unknown(table, s"the server returned ${server.client.said(refusal)} to the last of several attempts")
    else server.client.error(ask.what, refusal)

  /** Errors of servers, and of what stands before them; of 501 the description says that it is none of these. */
  private def isUnclear(refusal: Refusal): Boolean = refusal.status >= 500 && refusal.status != 501 ||
    refusal.status == 408

  /** A success whose answer cannot be read. */
  def unreadable[A](table: String)(read: => A): A =
    try read
    catch { case e: InvalidMetadata => throw unknown(table, s"the server's response cannot be read (${e.getMessage})") }

  private def unknown(table: String, reason: String): CommitStateUnknown =
    CommitStateUnknown(table, ServerFile, reason, None)
}
